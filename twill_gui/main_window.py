"""The main window: the chart in the middle, docks around it, and the wires between document, views and jobs."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QActionGroup, QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QMainWindow, QMenu, QStackedWidget, QToolBar, QVBoxLayout, QWidget

from core.schedule.wording import counted
from twill_gui.action_table import Menu, Needs
from twill_gui.actions import Actions
from twill_gui.document import editing
from twill_gui.document.document import Document
from twill_gui.document.state import Change
from twill_gui.explaining import Explaining
from twill_gui.exporting import Exporting
from twill_gui.jobs.explainer import explain
from twill_gui.jobs.solver import Solver, solve
from twill_gui.jobs.standby import Standby
from twill_gui.jobs.supervisor import Work
from twill_gui.journal import Journal
from twill_gui.layout import DockLayout
from twill_gui.models.problems import ProblemsModel
from twill_gui.models.solve_progress import SolveProgress
from twill_gui.palette import DARK, LIGHT
from twill_gui.pointing import Pointing
from twill_gui.project_files import ProjectFiles
from twill_gui.repairing import Repairing
from twill_gui.samples import sample_projects
from twill_gui.settings import Settings
from twill_gui.slots import slots
from twill_gui.solving import Solving
from twill_gui.theme import Appearance, Theme
from twill_gui.tool_docks import ToolDocks
from twill_gui.view_pictures import ViewPictures
from twill_gui.views.explain import ExplainView
from twill_gui.views.gantt import GanttView
from twill_gui.views.graph import GraphView
from twill_gui.views.inspector import InspectorView
from twill_gui.views.ir_text import IrTextView
from twill_gui.views.jobs import JobsView
from twill_gui.views.liveness import LivenessView
from twill_gui.views.log import LogView
from twill_gui.views.message_bar import MessageBar
from twill_gui.views.problems import ProblemsView
from twill_gui.views.project import ProjectView
from twill_gui.views.reservation import ReservationView
from twill_gui.views.status import StatusBar
from twill_gui.views.unsolved import UnsolvedView
from twill_gui.views.welcome import WelcomeView

APPLICATION_TITLE = "Twill Explorer"
_SELECTION_MENU = ("explain_op", "pin", "", "source_line", "center", "predecessor", "successor", "", "clear")


class MainWindow(QMainWindow):
    """Views read the document and emit requests; this class answers the requests."""

    def __init__(
        self,
        appearance: Appearance,
        settings: Settings,
        recovery: Path,
        work: Work = solve,
        explain_work: Work = explain,
    ) -> None:
        super().__init__()
        self._appearance = appearance
        self._settings = settings
        colors = appearance.colors
        self.document = Document(self)
        self.progress = SolveProgress(colors, self)
        self.problems = ProblemsModel(colors, self)
        self.solver = Solver(self, work)
        self.solving = Solving(self.document, self.solver, self.progress, self)
        self.files = ProjectFiles(self.document, settings, recovery, self)

        self.gantt = GanttView()
        self.liveness = LivenessView()
        self.reservation = ReservationView()
        self.graph_view = GraphView()
        self.messages = MessageBar(colors)
        self.welcome = WelcomeView(sample_projects, colors)
        self.unsolved = UnsolvedView(self.document)
        self.project_view = ProjectView(self.document, colors)
        self.inspector = InspectorView(self.document, colors)
        self.ir_text = IrTextView(self.document, colors)
        self.jobs = JobsView(self.progress, colors)
        self.explain_view = ExplainView(colors)
        self.log = LogView(colors)
        self.journal = Journal(self.document, self.progress, self.log, self)
        self.standby = Standby()
        self.explainer = Solver(self, explain_work, self.standby)
        self.explaining = Explaining(self.document, self.explainer, self.explain_view, self)
        self.repairing = Repairing(self.document, self, standby=self.standby)
        self.problems_view = ProblemsView(self.problems)
        self.tool_docks = ToolDocks(self, colors, work)
        self.exporting = Exporting(self.document, self.tool_docks.measuring, self)
        self.pages = QStackedWidget()
        for page in (self.welcome, self.unsolved, self.gantt):
            self.pages.addWidget(page)
        self._build_center()
        self.dock_layout = DockLayout(
            self,
            {
                "Project": self.project_view,
                "Jobs": self.jobs,
                "Inspector": self.inspector,
                "Problems": self.problems_view,
                "Explain": self.explain_view,
                "Reservation": self.reservation,
                "Liveness": self.liveness,
                "Graph": self.graph_view,
                "IR text": self.ir_text,
                "Log": self.log,
                **self.tool_docks.docks,
            },
        )
        self.actions_by_name = Actions(self, self.gantt)
        self.pictures = ViewPictures({"Chart": self.gantt, **self.dock_layout.views}, self)
        self.toolbar = self._build_toolbar()
        self._recent_menu = QMenu("Open &recent", self)
        self._build_menus()
        self.status = StatusBar(self.document, self.progress, colors, self)
        self.setStatusBar(self.status)
        self.setAcceptDrops(True)
        self._connect()
        self._on_theme_changed()
        self._on_changed(Change.PROJECT)
        self._on_recent_changed()
        self.actions_by_name.follow(self.document.undo_stack)

    # Building

    def _build_center(self) -> None:
        center = QWidget()
        layout = QVBoxLayout(center)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.messages)
        layout.addWidget(self.pages, 1)
        self.setCentralWidget(center)
        self.liveness.link_to(self.gantt)
        self.reservation.link_to(self.gantt)

    def _build_toolbar(self) -> QToolBar:
        toolbar = QToolBar("Tools", self)
        toolbar.setObjectName("Tools")
        toolbar.setMovable(False)
        self.actions_by_name.fill_toolbar(toolbar)
        self.addToolBar(toolbar)
        return toolbar

    def _build_menus(self) -> None:
        menus = self.actions_by_name.fill_menus(self)
        menus[Menu.FILE].insertMenu(self.actions_by_name["save"], self._recent_menu)
        view = menus[Menu.VIEW]
        view.addSeparator()
        themes = QActionGroup(self)
        theme_menu = view.addMenu("&Theme")
        for theme in Theme:
            action = QAction(theme.value.capitalize(), themes, checkable=True, checked=theme is self._appearance.theme)
            action.triggered.connect(lambda _=False, theme=theme: self.set_theme(theme))
            theme_menu.addAction(action)
        dock_menu = view.addMenu("D&ocks")
        for dock in self.dock_layout.docks:
            dock_menu.addAction(dock.toggleViewAction())
        view.addAction("&Reset layout", self.dock_layout.reset)
        view.addSeparator()
        self.pictures.fill_menu(view)

    def _connect(self) -> None:
        document, gantt = self.document, self.gantt
        document.changed.connect(self._on_changed)
        document.selection_changed.connect(self._on_selection_changed)
        document.located.connect(self._on_located)
        document.undo_stack.cleanChanged.connect(self._on_located)
        document.undo_stack.indexChanged.connect(lambda: self.actions_by_name.follow(document.undo_stack))
        self._appearance.changed.connect(self._on_theme_changed)

        gantt.move_requested.connect(lambda op, start, group: editing.move(document, op, start, group))
        for view in (
            gantt,
            self.liveness,
            self.reservation,
            self.graph_view,
            self.ir_text,
            self.unsolved,
            self.inspector,
            self.problems_view,
            self.explain_view,
        ):
            view.selection_requested.connect(document.select)
        gantt.range_selected.connect(self._on_range_selected)
        for view in (gantt, self.graph_view):
            view.op_activated.connect(self.open_line)
        for view in (self.project_view, self.problems_view):
            view.schedule_requested.connect(lambda name: editing.show_schedule(document, name))
        self.jobs.cancel_requested.connect(self.solving.cancel)
        self.unsolved.solve_requested.connect(self.solving.solve)
        self.welcome.open_requested.connect(self.files.choose)
        self.welcome.guide_requested.connect(self.actions_by_name["guide"].trigger)
        self.welcome.path_requested.connect(self.files.open)

        self.explaining.told.connect(self.journal.on_explained)
        gantt.why_asked.connect(self.explaining.ask_about_group)
        gantt.menu_requested.connect(self._open_menu)
        self.inspector.asked.connect(self.explaining.ask)
        self.problems_view.why_asked.connect(self.explaining.ask_about)
        self.explaining.shown.connect(lambda: self.dock_layout.bring_forward("Explain"))
        texts = (self.ir_text, self.tool_docks.cuda)
        pointing = Pointing((gantt, self.liveness, self.reservation, self.graph_view, *texts), self)
        self.explain_view.highlighted.connect(pointing.choose)
        for view in (gantt, self.liveness, self.reservation):
            pointing.listen(view.hovered, view)

        gantt.tried.connect(self.repairing.expect)
        self.repairing.why_asked.connect(self.explaining.ask)
        self.repairing.withdrawn.connect(self.messages.close_topic)
        self.repairing.busy_changed.connect(self._enable_actions)
        for source in (self.files, self.solving, self.exporting, self.explaining, self.repairing):
            source.message.connect(self.messages.show_message)
            source.message.connect(self.journal.on_message)
        self.files.diagnostics.connect(self.journal.on_diagnostics)
        for source in (self.tool_docks, self.pictures):
            source.message.connect(self.messages.show_message)
        self.files.diagnostics.connect(self.problems.set_diagnostics)
        self.files.recent_changed.connect(self._on_recent_changed)
        self.solving.busy_changed.connect(self._on_busy_changed)
        self.explaining.busy_changed.connect(self._enable_actions)
        self.progress.changed.connect(self._enable_actions)
        self.actions_by_name.connect_all(slots(self))

    # What the user asks for

    def set_theme(self, theme: Theme) -> None:
        """Chooses the theme and remembers it."""
        self._appearance.set_theme(theme)
        self._settings.theme = theme

    def _open_menu(self, place: QPoint) -> None:
        """What can be done with the selection, where the user points."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name in _SELECTION_MENU:
            menu.addAction(self.actions_by_name[name]) if name else menu.addSeparator()
        menu.popup(place)

    # What has happened

    def _on_changed(self, change: Change) -> None:
        document = self.document
        graph, schedule, report = document.graph, document.schedule, document.report
        if Change.PROJECT in change:
            self._on_located()
        if graph and schedule and report:
            self.gantt.set_content(graph, schedule, report)
            self.liveness.set_content(graph, schedule)
            self.reservation.set_content(graph, schedule)
        else:
            for view in (self.gantt, self.liveness, self.reservation):
                view.clear()
        if graph and document.bounds:
            self.graph_view.set_content(graph, schedule, document.bounds.critical_recurrence)
        else:
            self.graph_view.clear()
        self.problems.set_reports(report, document.other_reports)
        self.dock_layout.set_shown(graph is not None)
        self.pages.setCurrentWidget(self.gantt if schedule else self.unsolved if graph else self.welcome)
        self._enable_actions()

    def _on_selection_changed(self, selection: frozenset[str]) -> None:
        for view in (self.gantt, self.liveness, self.reservation, self.graph_view):
            view.set_selection(selection)
        self._enable_actions()

    def _on_range_selected(self, start: int, end: int) -> None:
        self.status.showMessage(f"{counted(end - start, 'cycle')}, from {start} to {end}")

    def open_line(self, op: str) -> None:
        """Shows the op's line in the IR text; where there is none, says what is known of it."""
        if self.ir_text.open_line(op):
            self.dock_layout.bring_forward("IR text")
            self.ir_text.setFocus()
            return
        state, graph = self.document.state, self.document.graph
        line = graph.ops[op].line if graph else None
        if state and line is not None:
            self.status.showMessage(f"{op}: line {line} of {state.project.input.path}")

    def _on_located(self) -> None:
        state = self.document.state
        name = f"{state.project.name}[*] \N{EM DASH} {APPLICATION_TITLE}" if state else APPLICATION_TITLE
        self.setWindowTitle(name)
        self.setWindowFilePath(str(state.project.file or state.project.input.path) if state else "")
        self.setWindowModified(self.document.modified)

    def _on_busy_changed(self) -> None:
        self.unsolved.set_busy(self.solving.busy)
        self._enable_actions()

    def _on_recent_changed(self) -> None:
        recent = self._settings.recent_files
        self.welcome.set_recent(recent)
        self._recent_menu.clear()
        for path in recent:
            self._recent_menu.addAction(str(path), lambda path=path: self.files.open(path))
        self._recent_menu.addSeparator()
        self._recent_menu.addAction("&Clear", self._clear_recent)
        self._recent_menu.setEnabled(bool(recent))

    def _clear_recent(self) -> None:
        self._settings.clear_recent_files()
        self._on_recent_changed()

    def _on_theme_changed(self) -> None:
        colors = self._appearance.colors
        for part in (self.actions_by_name, self.messages, self.progress, self.problems, self.jobs, self.explain_view):
            part.set_colors(colors)
        self.status.set_colors(colors)
        self.log.set_colors(colors)
        self.tool_docks.set_colors(colors)
        self.welcome.set_colors(colors)
        self.project_view.tree.set_colors(colors)
        self.inspector.tree.set_colors(colors)
        self.ir_text.set_colors(colors)
        for view in (self.gantt, self.liveness, self.reservation, self.graph_view):
            view.set_palette(DARK if colors.dark else LIGHT)

    def _enable_actions(self) -> None:
        document = self.document
        available = {
            Needs.DOCUMENT: document.state is not None,
            Needs.SCHEDULE: document.schedule is not None,
            Needs.SELECTION: bool(document.schedule and document.selection),
            Needs.IDLE: document.state is not None and not self.solving.searching,
            Needs.RUNNING: (self.progress.running and not self.progress.stopping)
            or self.explaining.busy
            or self.repairing.busy,
        }
        self.actions_by_name.enable(need for need, present in available.items() if present)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        event.acceptProposedAction()
        if not self.tool_docks.take(paths[0]):
            self.files.open(paths[0])

    def closeEvent(self, event: QCloseEvent) -> None:
        self.tool_docks.configuring.finish()
        if not self.files.may_close():
            event.ignore()
            return
        self.dock_layout.save(self._settings)
        self.document.close()
        self.solver.shut_down()
        self.explainer.shut_down()
        self.repairing.shut_down()
        self.exporting.shut_down()
        self.standby.shut_down()
        self.tool_docks.shut_down()
        for view in (self.graph_view, self.jobs):
            view.shut_down()
        event.accept()

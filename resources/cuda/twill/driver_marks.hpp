// The test program's part of a trace: memory for the marks, and their file. Included by driver.hpp, behind the kernel's
// names of roles and ops.
#pragma once

namespace twd {
#ifdef TWILL_TRACE
// The marks of all roles, on the side of the kernel.
class Marks {
 public:
  explicit Marks(bool wanted) {
    if (!wanted) return;
    std::vector<unsigned char> none(bytes, 0xff);
    memory_ = static_cast<tw::Mark*>(allocate(bytes));
    upload(memory_, none.data(), bytes);
  }
  ~Marks() {
    if (memory_) release(memory_);
  }
  tw::Mark* memory() const { return memory_; }
  void write(const std::string& file, const std::string& name) const {
    std::vector<tw::Mark> marks(roles * tw::most_marks);
    download(marks.data(), memory_, bytes);
    std::ofstream out(file);
    out << "{\"schema\": \"twill.marks/1\", \"case\": \"" << name << "\", \"clock\": \"" << tw::clock_name << "\", \"roles\": {";
    for (std::size_t r = 0; r < roles; r++) {
      out << (r ? ",\n" : "\n") << " \"" << marked_roles[r] << "\": [";
      for (int i = 0; i < tw::most_marks; i++) {
        const tw::Mark& m = marks[r * tw::most_marks + static_cast<std::size_t>(i)];
        if (m.op < 0) break;
        out << (i ? ",\n  [" : "\n  [") << marked_ops[m.op].loop << ", \"" << marked_ops[m.op].op << "\", " << m.iteration << ", "
            << m.begin << ", " << m.end << "]";
      }
      out << "]";
    }
    out << "}}\n";
    if (!out) give_up("cannot write " + file);
  }

 private:
  static constexpr std::size_t roles = sizeof(marked_roles) / sizeof(marked_roles[0]);
  static constexpr std::size_t bytes = roles * tw::most_marks * sizeof(tw::Mark);
  tw::Mark* memory_ = nullptr;
};
#endif

// A run that may be traced: `run(p)`, with the marks written to the file that the options name.
template <class P, class Run> auto run_traced(P p, const Options& o, const std::string& name, Run run) {
#ifdef TWILL_TRACE
  const Marks marks(!o.trace.empty());
  p.marks = marks.memory();
  auto result = run(p);
  if (!o.trace.empty()) marks.write(o.trace, name);
  return result;
#else
  (void)o, (void)name;
  return run(p);
#endif
}
}  // namespace twd

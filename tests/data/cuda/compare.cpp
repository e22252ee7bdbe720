// Compares arrays as the test program does. Each line: ELEMENT BOUND COUNT EXPECTED... BYTES (of all elements, in hex);
// the answer: whether they are right, the relative error, units in the last place.
#include "twill.cuh"

#include "driver.hpp"

#include <iostream>

int main() {
  twd::Array a;
  for (; std::cin >> a.element >> a.bound >> a.elements;) {
    a.expected.resize(static_cast<std::size_t>(a.elements));
    std::string word;
    for (double& e : a.expected) std::cin >> word, e = std::strtod(word.c_str(), nullptr);
    std::cin >> word;
    std::vector<unsigned char> found;
    for (std::size_t i = 0; i < word.size(); i += 2) found.push_back(static_cast<unsigned char>(std::stoi(word.substr(i, 2), nullptr, 16)));
    a.size = static_cast<int>(found.size()) / static_cast<int>(a.elements);
    const twd::Difference d = twd::compare(a, found);
    std::cout << d.ok << " " << d.relative << " " << d.ulps << "\n";
  }
}

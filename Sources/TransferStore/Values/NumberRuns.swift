/// Numbers as text, with `first-last` for consecutive ones, which jobs that are taken together mostly have.
package enum NumberRuns {
    package static func text(_ numbers: [Int64]) -> String {
        var runs: [(first: Int64, last: Int64)] = []
        for number in numbers {
            if let last = runs.last?.last, last + 1 == number {
                runs[runs.count - 1].last = number
            } else {
                runs.append((number, number))
            }
        }
        return runs.map { $0.first == $0.last ? "\($0.first)" : "\($0.first)-\($0.last)" }.joined(separator: ",")
    }

    /// - Returns: An empty list for a text that is not of this form.
    package static func numbers(_ text: String) -> [Int64] {
        var numbers: [Int64] = []
        for run in text.split(separator: ",") {
            let ends = run.split(separator: "-").compactMap { Int64($0) }
            guard let first = ends.first, let last = ends.last, first <= last else { return [] }
            numbers += first...last
        }
        return numbers
    }
}

import ArgumentParser
import TransferQueue

/// A number of connections, or `auto`.
struct SegmentsArgument: ExpressibleByArgument {
    /// `nil` is as many as pay.
    let count: Int?

    init?(argument: String) {
        guard argument != "auto" else {
            count = nil
            return
        }
        guard let count = Int(argument), (1...32).contains(count) else { return nil }
        self.count = count
    }

    var json: JSONText { count.map { .number($0) } ?? .string("auto") }
    var written: String { count.map { "\($0)" } ?? "auto" }
}

/// The rule that says what counts as progress: bytes that make a request worth its while.
///
/// A server that gives or takes a few bytes of each request moves a file forward, and would be asked without end. So a count
/// of fruitless requests, or of attempts, begins anew only after this many bytes. Every such count uses this rule: attempts
/// of a job, detours of an exchange, connections of a segmented file, and readings of a copy's source.
package enum ProgressRule {
    package static let leastBytes: Int64 = 64 << 10

    /// Whether so many bytes are progress.
    package static func isProgress(_ bytes: Int64) -> Bool { bytes >= leastBytes }
}

/// The rule that decides how many bytes count as progress, which justifies further requests.
///
/// A server that transfers a few bytes with each request advances a file, and would be asked endlessly. A count of
/// unsuccessful requests or attempts therefore restarts only after this many bytes. All such counts use the rule:
/// attempts of a job, detours of an exchange, connections of a segmented file, and readings of a copy's source.
package enum ProgressRule {
    package static let leastBytes: Int64 = 64 << 10

    /// Returns whether a number of bytes is progress.
    package static func isProgress(_ bytes: Int64) -> Bool { bytes >= leastBytes }
}

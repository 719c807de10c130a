import Glibc
import TransferCore

/// The lack of file descriptors in this process: whether a job was alone in it, and when it is reported again.
struct DescriptorLack {
    /// The time since which no job has held a descriptor, set when a job found none while no other job ran.
    private var emptied: MonotonicTime?
    /// The time until which the lack is not reported again.
    private var reportedUntil: MonotonicTime?

    private static let tellsEvery = Duration.seconds(60)

    /// The wait of a job that found no descriptor. It is longer than a small file takes to release its own, and than
    /// the delayed closing of finished files on other threads.
    static let settles = Duration.milliseconds(250)

    /// The limit below which even a single transfer may find too few descriptors. Its file, connections and lookups,
    /// and the idle process, take about half of this number.
    static let lowestLimit = 64

    /// Returns whether waiting may end the lack of a job that was alone. Descriptors of the machine (ENFILE) or of
    /// other code in this process may become free, but a limit below ``lowestLimit`` stays too low.
    ///
    /// - Parameters:
    ///   - limit: The most descriptors that the process may have.
    ///   - number: The `errno` of the failure, if it is known.
    static func canPass(limit: Int, number: Int32?) -> Bool { limit >= lowestLimit || number == ENFILE }

    /// Notes that a job found no descriptor.
    ///
    /// - Parameters:
    ///   - others: The number of other jobs that hold descriptors.
    ///   - started: The time when the job began.
    /// - Returns: Whether no other job of this process can be the reason. The job was alone, and began when all
    ///   descriptors of other jobs were surely closed.
    mutating func noted(others: Int, started: MonotonicTime, now: MonotonicTime) -> Bool {
        guard others == 0 else {
            emptied = nil
            return false
        }
        guard let emptied else {
            self.emptied = now
            return false
        }
        return started >= emptied + Self.settles
    }

    /// Notes that a job that had found descriptors gives them back.
    mutating func found() { emptied = nil }

    /// Decides whether to report the lack now.
    ///
    /// - Returns: Whether it is time to.
    mutating func tells(now: MonotonicTime) -> Bool {
        if let reportedUntil, now < reportedUntil { return false }
        reportedUntil = now + Self.tellsEvery
        return true
    }
}

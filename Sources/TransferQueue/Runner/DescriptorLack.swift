import Glibc
import TransferCore

/// This process's lack of descriptors: who was alone in it, and how often it's told.
struct DescriptorLack {
    /// The time since which no job has held a descriptor: one found none then, and there was no other.
    private var emptied: MonotonicTime?
    /// Until then it isn't told again.
    private var reportedUntil: MonotonicTime?

    private static let tellsEvery = Duration.seconds(60)

    /// The wait of a job that found none: longer than a small file takes, which gives its descriptors back then, and than
    /// the closing of those that jobs have left (files are closed on other threads).
    static let settles = Duration.milliseconds(250)

    /// The limit below which a single transfer may never find enough descriptors: its file, its connections and look-ups,
    /// and what the process has open without any transfer, take about half of it.
    static let lowestLimit = 64

    /// Whether the lack of a job that was alone can pass by waiting: the machine's descriptors may come back (ENFILE), and
    /// so may those that something else of this process holds. A limit below ``lowestLimit`` stays too low.
    ///
    /// - Parameters:
    ///   - limit: How many descriptors the process may have.
    ///   - number: The `errno` of the failure, where it's known.
    static func canPass(limit: Int, number: Int32?) -> Bool { limit >= lowestLimit || number == ENFILE }

    /// A job found no descriptor.
    ///
    /// - Parameters:
    ///   - others: Jobs that hold some.
    ///   - started: When the job began.
    /// - Returns: Whether nobody of this process had a part in it: a job was alone that began when all that others had held
    ///   was surely closed.
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

    /// A job that had found descriptors gives them back.
    mutating func found() { emptied = nil }

    /// - Returns: Whether it's time to tell of it.
    mutating func tells(now: MonotonicTime) -> Bool {
        if let reportedUntil, now < reportedUntil { return false }
        reportedUntil = now + Self.tellsEvery
        return true
    }
}

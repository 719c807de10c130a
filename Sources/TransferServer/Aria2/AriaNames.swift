import Synchronization

/// The numbers that distinguish downloads of one name: `a.bin`, `a.1.bin`, `a.2.bin`.
final class AriaNames: Sendable {
    /// The next number of each path that was numbered before.
    private let next = Mutex<[String: Int]>([:])
    /// The maximum number of paths; beyond it, all are forgotten, and numbers are searched for again.
    private static let mostPaths = 10_000

    /// Returns the first number to try for a path.
    ///
    /// - Parameter isTaken: A closure that returns whether a download has the name with this number.
    func number(_ path: String, isTaken: (Int) async throws -> Bool) async rethrows -> Int {
        let known = next.withLock { $0[path] }
        return try await Self.firstFree(from: known ?? 1, isTaken: isTaken)
    }

    /// Notes that a path with this number is taken.
    func take(_ path: String, _ number: Int) {
        next.withLock { next in
            if next.count >= Self.mostPaths, next[path] == nil { next = [:] }
            next[path] = max(next[path] ?? 0, number + 1)
        }
    }

    /// Returns a free number, from `start` on, behind one that is taken. Where the taken numbers have no gap it is the
    /// first. The number of questions grows with the logarithm of the result.
    static func firstFree(from start: Int, isTaken: (Int) async throws -> Bool) async rethrows -> Int {
        var (taken, free, step) = (start - 1, start, 1)
        while try await isTaken(free) {
            taken = free
            free += step
            step *= 2
        }
        while free - taken > 1 {
            let middle = taken + (free - taken) / 2
            if try await isTaken(middle) { taken = middle } else { free = middle }
        }
        return free
    }

    /// Returns a path with a number before its extension.
    static func path(_ path: String, _ number: Int) -> String {
        guard number > 0 else { return path }
        let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        let name = path[start...]
        let dot = name.lastIndex(of: ".").flatMap { $0 > name.startIndex ? $0 : nil } ?? name.endIndex
        return "\(path[..<start])\(name[..<dot]).\(number)\(name[dot...])"
    }
}

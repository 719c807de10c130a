import Foundation

/// The kernel's counters of this process's memory, in bytes.
enum OwnMemory {
    static func resident() throws -> Int64 { try field("VmRSS:") }

    /// Returns the anonymous memory, without the code and data of mapped files.
    static func anonymous() throws -> Int64 { try field("RssAnon:") }

    static func peak() throws -> Int64 { try field("VmHWM:") }

    /// Resets the peak (proc(5), clear_refs).
    static func resetPeak() throws {
        guard let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else {
            throw LoadError("/proc/self/clear_refs cannot be opened")
        }
        try file.write(contentsOf: Data("5".utf8))
        try file.close()
    }

    private static func field(_ name: String) throws -> Int64 {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        for line in status.split(separator: "\n") where line.hasPrefix(name) {
            if let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int64($0) }) {
                return kibibytes * 1024
            }
        }
        throw LoadError("/proc/self/status has no \(name)")
    }
}

internal import Foundation

/// What `/proc` tells of a running process.
public enum ProcessFacts {
    /// The largest resident set so far in bytes, or `nil` when the process has ended.
    public static func peakMemory(_ processID: Int32) -> Int64? {
        guard let text = try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kibibytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap({
                Int64($0)
            })
        else { return nil }
        return kibibytes * 1024
    }

    /// The number of descriptors that the process has open.
    public static func openDescriptors(_ processID: Int32) -> Int? {
        try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(processID)/fd").count
    }
}

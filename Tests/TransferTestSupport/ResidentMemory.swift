import Foundation

public enum ResidentMemory {
    /// The memory that this process has resident now (VmRSS), in KiB.
    public static var kibibytes: Int { field("VmRSS:") }

    private static func field(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
    }
}

public enum OpenDescriptors {
    public static var count: Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0 }
}

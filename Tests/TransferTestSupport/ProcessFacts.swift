internal import Foundation

/// Facts about a running process from `/proc`.
public enum ProcessFacts {
    /// Returns the largest resident set so far in bytes; `nil` if the process has ended.
    public static func peakMemory(_ processID: Int32) -> Int64? { memory("VmHWM", processID) }

    /// Returns the resident set in bytes; `nil` if the process has ended.
    public static func residentMemory(_ processID: Int32) -> Int64? { memory("VmRSS", processID) }

    /// Returns the size of the address space in bytes; `nil` if the process has ended.
    public static func addressSpace(_ processID: Int32) -> Int64? { memory("VmSize", processID) }

    /// Returns the value of a line of proc_pid_status(5) that counts KiB, in bytes.
    private static func memory(_ name: String, _ processID: Int32) -> Int64? {
        guard let text = try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name + ":") }),
            let kibibytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap({
                Int64($0)
            })
        else { return nil }
        return kibibytes * 1024
    }

    /// Returns the processor time of all threads so far, in ticks of 10 ms (utime and stime of proc_pid_stat(5)).
    public static func processorTicks(_ processID: Int32) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8)
        // The name before the state may contain spaces and parentheses.
        guard let end = text.lastIndex(of: ")") else { throw TestSupportError("no stat of \(processID): \(text)") }
        return text[end...].split(separator: " ").dropFirst(12).prefix(2).reduce(0) { $0 + (Int($1) ?? 0) }
    }

    /// Returns for each thread how often it has yielded the processor so far. A thread that sleeps and wakes counts
    /// once.
    public static func wakes(_ processID: Int32) throws -> [String: Int] {
        let folder = "/proc/\(processID)/task"
        var wakes: [String: Int] = [:]
        for thread in try FileManager.default.contentsOfDirectory(atPath: folder) {
            // A thread may end meanwhile.
            guard let status = try? String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8) else {
                continue
            }
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
            wakes[thread] = line?.split(separator: "\t").last.flatMap { Int($0) }
        }
        return wakes
    }

    /// Returns how often the threads have yielded the processor since then, without threads that have ended.
    public static func wakes(_ processID: Int32, since before: [String: Int]) throws -> Int {
        try wakes(processID).reduce(0) { $0 + $1.value - (before[$1.key] ?? 0) }
    }

    /// Returns the children of the process that have not ended.
    public static func children(of processID: Int32) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.filter { child in
            guard let text = try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8),
                let end = text.lastIndex(of: ")")
            else { return false }
            // The state and the parent follow the name (proc_pid_stat(5)).
            return text[end...].split(separator: " ").dropFirst(2).first.flatMap { Int32($0) } == processID
        }
    }

    /// Returns the number of open descriptors of the process.
    public static func openDescriptors(_ processID: Int32) -> Int? {
        try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(processID)/fd").count
    }
}

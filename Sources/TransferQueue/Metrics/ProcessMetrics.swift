import CTransferLinux
import Glibc
import TransferCore
import TransferEngine

/// Metrics of the process, named as in Prometheus' clients. A program that uses swift-metrics has its own.
package enum ProcessMetrics {
    package static var families: [MetricFamily] {
        var families: [MetricFamily] = []
        func gauge(_ name: String, _ help: String, _ value: Double?) {
            if let value { families.append(MetricFamily(.gauge, name, help, [], [[]: .number(value)])) }
        }
        let processorTime = transfer_processor_time()
        if processorTime >= 0 {
            families.append(
                MetricFamily(
                    .counter, "process_cpu_seconds_total", "The processor time of the process, in seconds.", [],
                    [[]: .number(processorTime)]))
        }
        let pages = words("/proc/self/statm").compactMap { Double($0) }
        let page = Double(sysconf(Int32(_SC_PAGESIZE)))
        gauge(
            "process_virtual_memory_bytes",
            "The virtual memory of the process, in bytes.", pages.first.map { $0 * page })
        gauge(
            "process_resident_memory_bytes",
            "The resident memory of the process, in bytes.", pages.dropFirst().first.map { $0 * page })
        gauge("process_start_time_seconds", "The time when the process started.", started())
        gauge("process_open_fds", "The number of open file descriptors.", openDescriptors())
        let limit = OpenFiles.limit
        gauge("process_max_fds", "The largest number of file descriptors.", limit == .max ? nil : Double(limit))
        return families
    }

    /// Returns the start time in seconds since 1970, from field 22 of proc_pid_stat(5), which is in ticks since boot.
    private static func started() -> Double? {
        guard let text = SecretSource.text(of: "/proc/self/stat"), let close = text.lastIndex(of: ")") else {
            return nil
        }
        let fields = text[close...].split(separator: " ")
        let boot = words("/proc/stat", after: "btime").first.flatMap { Double($0) }
        guard fields.count > 20, let ticks = Double(fields[20]), let boot else { return nil }
        return boot + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private static func openDescriptors() -> Double? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Two entries are `.` and `..`, and one descriptor is open for this count.
        return Double(max(0, count - 3))
    }

    /// Returns the words of one line of a file.
    ///
    /// - Parameter name: The first word of the line, which is left out; `nil` for the first line.
    private static func words(_ path: String, after name: String? = nil) -> [Substring] {
        let lines = (SecretSource.text(of: path) ?? "").split(separator: "\n")
        guard let name else { return lines.first?.split(separator: " ") ?? [] }
        return lines.first { $0.hasPrefix(name + " ") }.map { Array($0.split(separator: " ").dropFirst()) } ?? []
    }
}

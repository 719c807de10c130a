import CTransferLinux
import Glibc
import TransferCore
import TransferEngine
package import TransferReachability

/// Metrics that aren't the queue's own: those of the process, as Prometheus' clients name them, of the machine's links
/// and of the queue's file.
package enum ProcessMetrics {
    /// - Parameter state: The queue's folder.
    package static func families(state: String, network: NetworkSnapshot) -> [MetricFamily] {
        [build, store(state)] + links(network) + process()
    }

    private static var build: MetricFamily {
        let library = CurlLibrary.version.split(separator: " ").first.map(String.init) ?? ""
        let version = library.split(separator: "/").last.map(String.init) ?? library
        return .gauge(
            "transfer_build_info", "The versions of this program and of libcurl.", ["version", "libcurl"],
            [[TransferVersion.current, version]: 1])
    }

    private static func store(_ state: String) -> MetricFamily {
        let sizes = ["queue.sqlite", "queue.sqlite-wal"].map { name in
            var status = stat()
            return stat("\(state)/\(name)", &status) == 0 ? Double(status.st_size) : 0
        }
        return .gauge(
            "transfer_store_size_bytes", "The size of the queue's files.", [], [[]: sizes.reduce(0, +)])
    }

    private static func links(_ network: NetworkSnapshot) -> [MetricFamily] {
        guard network.isKnown else { return [] }
        var up: [[String]: Double] = [:]
        var metered: [[String]: Double] = [:]
        let ways = Set(network.waysOut.map(\.name))
        for link in network.links where link.kind != .loopback {
            up[[link.name, "\(link.kind)"]] = ways.contains(link.name) ? 1 : 0
            metered[[link.name]] = link.metering.isMetered ? 1 : 0
        }
        return [
            .gauge("transfer_link_up", "Whether the link is a way out.", ["link", "kind"], up),
            .gauge("transfer_link_metered", "Whether the link's traffic is paid for.", ["link"], metered),
        ]
    }

    private static func process() -> [MetricFamily] {
        var families: [MetricFamily] = []
        func gauge(_ name: String, _ help: String, _ value: Double?) {
            if let value { families.append(.gauge(name, help, [], [[]: value])) }
        }
        var usage = rusage()
        if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
            let seconds = { (time: timeval) in Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
            families.append(
                .counter(
                    "process_cpu_seconds_total", "Processor time of the process.", [],
                    [[]: seconds(usage.ru_utime) + seconds(usage.ru_stime)]))
        }
        let pages = words("/proc/self/statm").compactMap { Double($0) }
        let page = Double(sysconf(Int32(_SC_PAGESIZE)))
        gauge("process_virtual_memory_bytes", "Virtual memory.", pages.first.map { $0 * page })
        gauge("process_resident_memory_bytes", "Resident memory.", pages.dropFirst().first.map { $0 * page })
        gauge("process_start_time_seconds", "When the process started.", started())
        gauge("process_open_fds", "Open descriptors.", openDescriptors())
        let limit = OpenFiles.limit
        gauge("process_max_fds", "The most descriptors.", limit == .max ? nil : Double(limit))
        return families
    }

    /// Field 22 of proc_pid_stat(5), in ticks since the machine's start.
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
        // Two of them are names of folders, and one is open for this count.
        return Double(max(0, count - 3))
    }

    /// - Parameter name: The first word of the line that is meant; the first line otherwise.
    private static func words(_ path: String, after name: String? = nil) -> [Substring] {
        let lines = (SecretSource.text(of: path) ?? "").split(separator: "\n")
        guard let name else { return lines.first?.split(separator: " ") ?? [] }
        return lines.first { $0.hasPrefix(name + " ") }.map { Array($0.split(separator: " ").dropFirst()) } ?? []
    }
}

import Foundation
import Glibc
import Testing
import TransferCore
import TransferEventLoop
import TransferTestSupport

/// The cost of the monitor, and its state after more messages than it can receive.
@Suite("The monitor under load", .enabled(if: NetworkNamespace.isAllowed), .timeLimit(.minutes(1)), .serialized)
struct KernelLoadTests {
    static let hasTracer = FileManager.default.isExecutableFile(atPath: "/usr/bin/strace")

    private func connected(_ options: String...) async throws -> (NetworkNamespace, ProbeProcess) {
        let namespace = try await NetworkNamespace()
        try await namespace.makeLink("v0", "192.0.2.2/24")
        try await namespace.run("ip route add default via 192.0.2.1 metric 100000")
        let process = try namespace.start(
            TransferCommand.builtProduct("network-probe"), ["watch"] + options)
        let probe = ProbeProcess(process)
        try await probe.until("ethernetOrWiFi")
        return (namespace, probe)
    }

    /// Returns the number of messages that the kernel could not deliver, as /proc/net/netlink reports it.
    private func drops(_ namespace: NetworkNamespace, _ probe: ProbeProcess) async throws -> Int {
        try await namespace.run("cat /proc/net/netlink").compactMap { line -> Int? in
            let words = line.split(separator: " ")
            // libnl's port is the process ID, with a counter above bit 22.
            guard words.count > 8, words[1] == "0", let port = UInt32(words[2]) else { return nil }
            return port & 0x3F_FFFF == UInt32(probe.process.processID) & 0x3F_FFFF ? Int(words[8]) : nil
        }.max() ?? 0
    }

    private func batch(_ namespace: NetworkNamespace, _ lines: [String]) async throws {
        let folder = try TemporaryFolder("batch")
        let path = try folder.write(lines.joined(separator: "\n") + "\n", to: "lines")
        try await namespace.run("ip -batch \(path)")
    }

    @Test func tenThousandRoutesWithLostMessagesEndInTheRightState() async throws {
        let (namespace, probe) = try await connected("--buffer", "4096")
        // The probe is stopped, so that messages are certainly lost.
        probe.process.kill(SIGSTOP)
        try await batch(
            namespace, (0..<10_000).map { "route add 10.\($0 / 250).\($0 % 250).0/24 via 192.0.2.1" })
        try await namespace.run("ip route del default; ip link set v0 mtu 1400; ip address add 192.0.2.3/24 dev v0")
        probe.process.kill(SIGCONT)
        let last = try await probe.until("notReachable")
        let lost = try await drops(namespace, probe)
        #expect(lost > 0)
        let settled = last.link("v0")[6] == "1400" ? last : try await probe.until { $0.link("v0")[6] == "1400" }
        #expect(settled["routes"] == "0" && settled.link("v0").last == "192.0.2.2/24+192.0.2.3/24")
        // The monitor continues to listen.
        try await namespace.run("ip route add default via 192.0.2.1")
        try await probe.until("ethernetOrWiFi")
    }

    @Test func tenThousandDefaultRoutesCostAFewSnapshots() async throws {
        let (namespace, probe) = try await connected()
        let before = ContinuousClock.now
        try await batch(namespace, (1...10_000).map { "route add default via 192.0.2.1 metric \($0)" })
        let last = try await probe.until { $0["routes"] == "10001" }
        let seconds = (ContinuousClock.now - before) / .seconds(1)
        let count = try #require(last["snapshot"].flatMap { Int($0) })
        #expect(last["IPv4"] == "v0/192.0.2.1/1")
        // At most one snapshot every 10 ms.
        #expect(Double(count) < 10 + seconds * 110)
        print("10,000 default routes: \(count) snapshots in \(seconds) s")
        try await namespace.run("ip route flush exact default; ip link set v0 mtu 1400")
        try await probe.until { $0["routes"] == "0" && $0.link("v0")[6] == "1400" }
    }

    @Test func routesThatAreNoDefaultsCostNoSnapshot() async throws {
        let (namespace, probe) = try await connected()
        try await batch(
            namespace, (0..<10_000).map { "route add 10.\($0 / 250).\($0 % 250).0/24 via 192.0.2.1" })
        try await namespace.run("ip link set v0 mtu 1400")
        let last = try await probe.until { $0.link("v0")[6] == "1400" }
        let count = try #require(last["snapshot"].flatMap { Int($0) })
        // The link-local address of version 6 arrives within the time, and a second time after its duplicate check.
        #expect(count <= 5)
    }

    @Test func changesAreReportedSoonAfterTheKernelMadeThem() async throws {
        let (namespace, probe) = try await connected()
        var latencies: [Double] = []
        for round in 0..<40 {
            let word = round % 2 == 0 ? "del" : "add"
            // The pause separates the change from the one before. Otherwise both would be reported together.
            try await namespace.run("sleep 0.02; ip route \(word) default via 192.0.2.1 metric 100000")
            let after = MonotonicTime.now.nanoseconds
            let line = try await probe.until(round % 2 == 0 ? "notReachable" : "ethernetOrWiFi")
            let time = try #require(line["at"].flatMap { Int64($0) })
            latencies.append(Double(time - after) / 1e6)
        }
        latencies.sort()
        #expect(latencies.count == 40)
        print("snapshot after `ip` had ended: median \(latencies[20]) ms, most \(latencies[39]) ms")
    }

    @Test func anIdleMonitorIsNeverWoken() async throws {
        let namespace = try await NetworkNamespace()
        // Version 6 is disabled, since its timers cause notifications.
        try await namespace.run("echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6")
        try await namespace.makeLink("v0", "192.0.2.2/24")
        try await namespace.run("ip route add default via 192.0.2.1")
        let probe = try namespace.probe("watch")
        try await probe.until("ethernetOrWiFi")
        // The threads sleep once a question was answered.
        probe.ask("status")
        try await probe.until { $0["status"] != nil && $0["snapshot"] == nil }
        // The test measures idleness, so the wait is necessary.
        try await Task.sleep(for: .milliseconds(300))
        let before = try probe.wakes()
        // The same wait, but longer.
        try await Task.sleep(for: .seconds(2))
        let after = try probe.wakes()
        #expect(!before.isEmpty && after == before)
    }

    /// The situation of a sandbox whose seccomp filter blocks netlink.
    @Test(.enabled(if: hasTracer, "strace is what takes netlink away"))
    func withoutNetlinkNothingIsKnownAndNothingBreaks() async throws {
        let namespace = try await NetworkNamespace()
        let binary = try TransferCommand.builtProduct("network-probe")
        for arguments in [["watch"], ["listen"], ["listen", "a.example"]] {
            let trace = ["-f", "-o", "/dev/null", "-e", "trace=socket", "-e", "inject=socket:error=EAFNOSUPPORT"]
            let probe = ProbeProcess(try namespace.start("/usr/bin/strace", trace + [binary] + arguments))
            let first = try await probe.next()
            if arguments == ["watch"] {
                #expect(first["known"] == "false" && first["status"] == "unknown")
                probe.ask("route 192.0.2.1")
                let route = try await probe.next()
                #expect(route["route"] == "none")
            } else {
                #expect(first["manager"] == "nil")
            }
        }
    }
}

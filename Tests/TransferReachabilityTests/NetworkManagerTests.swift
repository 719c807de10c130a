import Foundation
import Testing
import TransferTestSupport

/// The simulated NetworkManager and its requirements.
enum FakeNetworkManager {
    static let isThere: Bool = {
        let files = ["/usr/bin/dbus-daemon", "/usr/bin/busctl", "/usr/lib/python3/dist-packages/dbusmock/__init__.py"]
        let missing = files.filter { !FileManager.default.fileExists(atPath: $0) }
        if !missing.isEmpty { print("SKIPPED: no \(missing), so NetworkManager's word is not tried") }
        return missing.isEmpty
    }()
}

/// NetworkManager's messages over D-Bus, sent by python3-dbusmock's simulation on a private bus.
@Suite(
    "NetworkManager", .enabled(if: NetworkNamespace.isAllowed && FakeNetworkManager.isThere), .timeLimit(.minutes(1)))
struct NetworkManagerTests {
    /// A bus, optionally with NetworkManager on it.
    private final class Bus {
        private let folder: TemporaryFolder
        private let daemon: ChildProcess
        let environment: [String: String]

        init() async throws {
            folder = try TemporaryFolder("bus")
            let address = "unix:path=\(folder.path("socket"))"
            daemon = try ChildProcess.start(
                ChildProcess.Command(
                    "/usr/bin/dbus-daemon",
                    ["--session", "--nofork", "--nopidfile", "--print-address=1", "--address=\(address)"]))
            environment = ["DBUS_SYSTEM_BUS_ADDRESS": address]
            try await daemon.line(.standardOutput) { $0.hasPrefix("unix:") }
        }

        deinit { daemon.kill(SIGKILL) }

        func end() { daemon.kill(SIGKILL) }

        func startManager() async throws -> ChildProcess {
            var command = ChildProcess.Command(
                "/usr/bin/python3", ["-m", "dbusmock", "--system", "--template", "networkmanager"])
            command.environment.merge(environment) { $1 }
            let manager = try ChildProcess.start(command)
            // The simulation is started by its own methods, so it is ready once they answer.
            while try await call("get-property", [Bus.name, Bus.path, Bus.name, "Connectivity"], mayFail: true) == nil {
                guard manager.isRunning else { throw TestSupportError("\(try await manager.result())") }
            }
            return manager
        }

        static let name = "org.freedesktop.NetworkManager"
        static let path = "/org/freedesktop/NetworkManager"

        @discardableResult
        func call(_ verb: String, _ words: [String], mayFail: Bool = false) async throws -> String? {
            var command = ChildProcess.Command("/usr/bin/busctl", ["--system", verb, "--"] + words)
            command.environment.merge(environment) { $1 }
            let result = try await ChildProcess.start(command).result()
            if result.exitCode != 0, !mayFail { throw TestSupportError("\(words): \(result)") }
            return result.exitCode == 0 ? result.standardOutput : nil
        }

        func mock(_ words: String...) async throws {
            try await call("call", [Bus.name, Bus.path, "org.freedesktop.DBus.Mock"] + words)
        }

        /// Adds a device of NetworkManager for a link.
        func addDevice(_ device: String, link: String, metered: UInt32) async throws {
            try await mock("AddEthernetDevice", "ssi", device, link, "100")
            try await call(
                "call",
                [Bus.name, "\(Bus.path)/Devices/\(device)", "org.freedesktop.DBus.Mock", "AddProperty", "ssv"]
                    + ["\(Bus.name).Device", "Metered", "u", "\(metered)"])
        }

        func setMetered(_ device: String, _ metered: UInt32) async throws {
            try await call(
                "set-property",
                [Bus.name, "\(Bus.path)/Devices/\(device)", "\(Bus.name).Device", "Metered", "u", "\(metered)"])
        }
    }

    private func namespace() async throws -> NetworkNamespace {
        let namespace = try await NetworkNamespace()
        try await namespace.makeLink("v0", "192.0.2.2/24")
        try await namespace.makeLink("v1", "198.51.100.2/24")
        return namespace
    }

    @Test func meteredLinksAndCaptivePortalsAreTaken() async throws {
        let bus = try await Bus()
        let manager = try await bus.startManager()
        try await bus.addDevice("d0", link: "v0", metered: 1)
        try await bus.addDevice("d1", link: "v1", metered: 4)
        let namespace = try await namespace()
        let probe = try namespace.probe("watch", environment: bus.environment)
        let first = try await probe.until { $0["connectivity"] == "full" }
        #expect(first.link("v0")[7] == "yes" && first.link("v1")[7] == "guessedNo")
        try await bus.setMetered("d0", 2)
        try await probe.until { $0.link("v0")[7] == "no" && $0.link("v1")[7] == "guessedNo" }
        try await bus.mock("SetConnectivity", "u", "2")
        try await probe.until { $0["connectivity"] == "portal" }
        manager.kill(SIGTERM)
        // NetworkManager ends, and its information with it.
        let left = try await probe.until { $0["connectivity"] == "unknown" }
        #expect(left.link("v0")[7] == "unknown")
    }

    @Test func aManagerThatComesLaterIsHeard() async throws {
        let bus = try await Bus()
        let namespace = try await namespace()
        let probe = try namespace.probe("watch", environment: bus.environment)
        let first = try await probe.next()
        #expect(first["connectivity"] == "unknown")
        let manager = try await bus.startManager()
        try await probe.until { $0["connectivity"] == "full" }
        try await bus.addDevice("d0", link: "v0", metered: 3)
        try await bus.setMetered("d0", 1)
        try await probe.until { $0.link("v0")[7] == "yes" }
        manager.kill(SIGKILL)
        try await probe.until { $0["connectivity"] == "unknown" }
    }

    @Test func aBusThatEndsOrNeverWasIsNoError() async throws {
        let bus = try await Bus()
        let manager = try await bus.startManager()
        let namespace = try await namespace()
        let probe = try namespace.probe("watch", environment: bus.environment)
        try await probe.until { $0["connectivity"] == "full" }
        bus.end()
        try await probe.until { $0["connectivity"] == "unknown" }
        try await namespace.run("ip link set v0 mtu 1400")
        try await probe.until { $0.link("v0")[6] == "1400" }
        manager.kill(SIGKILL)
        let other = try namespace.probe("watch", environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere/at/all"])
        let line = try await other.next()
        #expect(line["known"] == "true" && line["connectivity"] == "unknown")
    }
}

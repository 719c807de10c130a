import Foundation
import Synchronization
import Testing
import TransferCore
import TransferEventLoop
import TransferTestSupport

@testable import TransferWatch

/// A manager's end: a datagram socket, read with a time limit by the kernel.
final class ManagerSocket: Sendable {
    let descriptor: Int32

    /// - Parameter name: A path, or with `@` in front an abstract name.
    init(_ name: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(name.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        var length = 2 + bytes.count + 1
        if name.hasPrefix("@") {
            address.sun_path.0 = 0
            length -= 1
        }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(length)) }
        }
        try #require(bound == 0)
    }

    deinit { close(descriptor) }

    func receive() -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}

@Suite(.timeLimit(.minutes(1))) struct SystemdNotifyTests {
    @Test func sendsToASocketInTheFileSystemAndToAnAbstractOne() throws {
        let folder = try TemporaryFolder("notify")
        for name in [folder.path("manager"), "@transfer-test-\(UUID().uuidString)"] {
            let manager = try ManagerSocket(name)
            let notify = try #require(SystemdNotify(environment: ["NOTIFY_SOCKET": name]))
            let isSent = notify.send(.ready, .status("watching /a\nSTOPPING=1"))
            #expect(isSent && manager.receive() == "READY=1\nSTATUS=watching /a STOPPING=1")
            notify.send(.reloading(at: MonotonicTime(nanoseconds: 5_000_999)))
            #expect(manager.receive() == "RELOADING=1\nMONOTONIC_USEC=5000")
            notify.send(.stopping)
            #expect(manager.receive() == "STOPPING=1")
        }
    }

    @Test(arguments: ["", "relative", "vsock:2:99", "/" + String(repeating: "x", count: 108), "@"])
    func knowsNoManagerByAnAddressThatIsNone(name: String) {
        #expect(SystemdNotify(environment: ["NOTIFY_SOCKET": name]) == nil)
        #expect(SystemdNotify(environment: [:]) == nil)
    }

    @Test func saysSoWhenNobodyListens() throws {
        let folder = try TemporaryFolder("notify")
        let notify = try #require(SystemdNotify(environment: ["NOTIFY_SOCKET": folder.path("nobody")]))
        #expect(!notify.send(.ready))
    }

    @Test(
        arguments: [
            (["WATCHDOG_USEC": "3000000"], Duration.seconds(1.5)),
            (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "42"], .seconds(1.5)),
            (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "43"], nil), (["WATCHDOG_USEC": "0"], nil),
            (["WATCHDOG_USEC": "x"], nil), ([:], nil),
        ] as [([String: String], Duration?)])
    func signsOfLifeAreDueAtHalfTheTime(variables: [String: String], interval: Duration?) throws {
        let environment = variables.merging(["NOTIFY_SOCKET": "/run/x"]) { $1 }
        let notify = try #require(SystemdNotify(environment: environment, processID: 42))
        #expect(notify.watchdogInterval == interval)
    }

    @Test func theLoopGivesSignsOfLifeUntilItIsStopped() async throws {
        let folder = try TemporaryFolder("notify")
        let manager = try ManagerSocket(folder.path("manager"))
        let notify = try #require(
            SystemdNotify(environment: ["NOTIFY_SOCKET": folder.path("manager"), "WATCHDOG_USEC": "20000"]))
        let loop = try EventLoop(name: "watchdog")
        defer { loop.stop() }
        let begin = MonotonicTime.now
        let watchdog = try #require(SystemdWatchdog(notify, loop: loop))
        for _ in 0..<5 { #expect(manager.receive() == "WATCHDOG=1") }
        #expect(MonotonicTime.now - begin >= .milliseconds(38))
        watchdog.stop()
    }
}

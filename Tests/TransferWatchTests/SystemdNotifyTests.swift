import Foundation
import Synchronization
import Testing
import TransferCore
import TransferEventLoop
import TransferTestSupport

@testable import TransferWatch

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

    @Test func aMissingManagerIsReported() throws {
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

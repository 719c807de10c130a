import Foundation
import Synchronization
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

/// A device whose clock has not been set yet, and a server whose certificate is not valid yet by that clock.
@Suite(.timeLimit(.minutes(1))) struct ClockTests {
    @Test func aCertificateThatIsNotYetValidIsWaitedForUntilTheClockIsSet() async throws {
        let folder = try TemporaryFolder("clock")
        let authority = try await TestAuthority.shared()
        var options = NginxServer.Options()
        options.certificate = try await authority.issue {
            $0.validFrom = 1
            $0.validUntil = 90
        }.server
        let server = try await NginxServer.start(options: options)
        var settings = Sample.quick
        settings.tls.ca = authority.anchors
        let job = Sample.download(server.url("/a"), to: folder.path("a"), id: "a", settings: settings)

        let looks = Mutex(0)
        let configure: (inout QueueConfiguration) -> Void = { configuration in
            configuration.clockInterval = .milliseconds(50)
            // The clock is set at the third query: a certificate that is refused then is refused for good.
            configuration.isClockSynchronised = {
                looks.withLock { looks in
                    looks += 1
                    return looks >= 3
                }
            }
        }
        try await withQueue(folder, configure: configure) { queue in
            let log = EventLog(queue)
            let totals = try await queue.complete([job], limit: .seconds(20))
            #expect(totals.failed == 1)
            let waits = log.events.filter { if case .waiting("a", .clock) = $0.kind { true } else { false } }
            #expect(waits.count == 2)
            let failure = log.events.compactMap { event -> JobFailure? in
                if case .failed(let failure) = event.kind { failure } else { nil }
            }.first
            #expect(failure?.error.code == .certificateRefused)
            #expect(failure?.attempts == 1, "the waits spent none")
        }
        #expect(looks.withLock { $0 } == 3)
    }
}

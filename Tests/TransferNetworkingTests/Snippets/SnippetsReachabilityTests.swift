import Foundation
import Testing
import TransferKit

/// The documents' snippet about reachability.
@Suite(.timeLimit(.minutes(1))) struct SnippetsReachabilityTests {
    // 000: 503; 003: 1088
    @Test func aManagerReportsTheStateAndItsChanges() async throws {
        let transcript = Transcript()
        let manager = NetworkReachabilityManager(host: "localhost")

        let status = await handed { reported in
            manager?.startListening(onQueue: .global()) { status in
                transcript.print("Network Status Changed: \(status)")
                // The name is still being looked up.
                guard status != .unknown else { return }
                manager?.stopListening()
                reported(status)
            }
        }
        // This machine itself is reachable in any network state.
        #expect(status == .reachable(.ethernetOrWiFi))
        #expect(transcript.all.last == "Network Status Changed: \(status)")
    }
}

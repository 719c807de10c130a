import Foundation
import FoundationNetworking
import Testing
import TransferTestSupport

@testable import TransferNetworking

/// Requests without a network, on the real kernel: each in a process with a network namespace of its own.
@Suite("Without a network", .timeLimit(.minutes(1)))
struct OfflineTests {
    /// Whether this user may make a network namespace (as root, and where users may), or has to be able to.
    static let isAllowed: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = [
            "--user", "--map-root-user", "--net", "/bin/sh", "-c", "PATH=$PATH:/sbin ip link set lo up",
        ]
        process.standardError = nil
        guard (try? process.run()) != nil else { return NetworkNamespaces.areRequired }
        process.waitUntilExit()
        if process.terminationStatus != 0 { print("SKIPPED: no network namespaces here, so nothing is tried offline") }
        return process.terminationStatus == 0 || NetworkNamespaces.areRequired
    }()

    private func run(_ kind: String) async throws -> [String] {
        let words = [
            "--user", "--map-root-user", "--net", try TransferCommand.builtProduct("request-load"), "offline", kind,
        ]
        let result = try await ChildProcess.start(
            ChildProcess.Command("/usr/bin/unshare", words, timeout: .seconds(50))
        ).result()
        guard result.exitCode == 0 else { throw TestSupportError("\(result)") }
        return result.standardOutput.split(separator: "\n").map(String.init)
    }

    private static let offline = "error \(URLError.Code.notConnectedToInternet.rawValue)"

    @Test(.enabled(if: isAllowed)) func aRequestFailsAtOnceAndSaysWhy() async throws {
        let words = try await run("fails")
        #expect(words == [Self.offline, "retries 0"])
    }

    @Test(.enabled(if: isAllowed)) func aSessionThatWaitsSendsItsRequestWhenThereIsAWay() async throws {
        let words = try await run("waits")
        #expect(words == ["waiting", "hello", "retries 0"])
    }

    @Test(.enabled(if: isAllowed)) func aRequestThatWaitsCanBeCancelled() async throws {
        let words = try await run("cancels")
        #expect(words == ["waiting", "cancelled", "retries 0"])
    }

    @Test(.enabled(if: isAllowed)) func theOfflineRetrierRetriesWhenThereIsAWay() async throws {
        let words = try await run("retries")
        #expect(words == ["failed", "hello", "retries 1"])
    }

    /// The test connects a cable.
    @Test(.enabled(if: isAllowed), arguments: ["retriesOverKind", "retriesOverOthers"])
    func theOfflineRetrierRetriesOverTheKindsOfInterfacesItWasGiven(kind: String) async throws {
        let words = try await run(kind)
        #expect(words == ["failed", "hello", "retries 1"])
    }

    @Test(.enabled(if: isAllowed), arguments: ["kindIsMissing", "kindIsProhibited"])
    func theOfflineRetrierDoesNotRetryOverOtherKinds(kind: String) async throws {
        let words = try await run(kind)
        #expect(words == ["failed", Self.offline, "retries 0"])
    }

    @Test func copiesOfAConfigurationCarryThatItWaits() throws {
        let configuration = URLSessionConfiguration.af.default
        #expect(!configuration.waitsForConnectivity)
        configuration.waitsForConnectivity = true
        let copy = try #require(configuration.copy() as? URLSessionConfiguration)
        #expect(copy.waitsForConnectivity && SessionSettings(configuration: copy).waitsForConnectivity)
        // The flag is no proxy entry, and it hides no proxy.
        #expect(copy.proxyDictionary == nil)
        configuration.waitsForConnectivity = false
        #expect(configuration.connectionProxyDictionary == nil && copy.waitsForConnectivity)
    }

    @Test func localDestinationsDoNotWait() {
        #expect(!OfflineRule.leadsOut("http://127.0.0.1:1/") && !OfflineRule.leadsOut("http://[::1]/"))
        #expect(!OfflineRule.leadsOut("http://localhost/") && OfflineRule.leadsOut("http://a.example/"))
    }
}

import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

/// Credentials of this machine, and the servers to which jobs from outside may send them.
@Suite struct OutsideRulesTests {
    private static let allowance = "keys=http://store.example:9000"

    /// - Returns: The code of the refusal; `nil` where the job is accepted.
    private func refusal(_ job: String) throws -> String? {
        let folder = try TemporaryFolder("outside")
        var rules = OutsideRules(directory: folder.path)
        rules.secrets = try OutsideRules.secrets([Self.allowance])
        let reading = try read(#"{"version": 1, "jobs": [\#(job)]}"#)
        let spec = try #require(reading.jobs.first, "\(reading.lines)")
        do { _ = try rules.confined(spec) } catch let refusal as OutsideRules.Refusal { return refusal.code }
        return nil
    }

    private func copy(
        from source: String, to destination: String = "s3://bucket/a",
        at endpoint: String = "http://store.example:9000", _ more: String = ""
    ) -> String {
        """
        {"download": "\(source)", "to": "\(destination)", "s3": {"endpoint": "\(endpoint)", "accessKey": "a",
            "secretKey": {"credential": "keys"}}\(more)}
        """
    }

    @Test func theKeysOfAnObjectStoreAreForThatSideOfACopyAlone() throws {
        #expect(try refusal(copy(from: "https://public.example/a")) == nil)
        #expect(try refusal(copy(from: "s3://bucket/b", to: "https://public.example/a")) == nil)
        #expect(try refusal(copy(from: "s3://bucket/b")) == "loginRefused", "keys of the destination's are its own")
        let keys = #"{"endpoint": "http://store.example:9000", "accessKey": "a", "secretKey": {"credential": "keys"}}"#
        #expect(try refusal(copy(from: "s3://bucket/b", #", "destination": {"s3": \#(keys)}"#)) == nil)
    }

    @Test func anotherStoreIsNotShownTheKeys() throws {
        #expect(try refusal(copy(from: "https://public.example/a", at: "http://other.example")) == "secretRefused")
        let other = copy(from: "s3://bucket/b", to: "https://h.example/", at: "http://other.example")
        #expect(try refusal(other) == "secretRefused")
    }

    @Test func aHeaderWithACredentialIsForTheServersThatItWasAllowedFor() throws {
        let header = #", "headers": {"X": {"credential": "keys"}}"#
        #expect(try refusal(copy(from: "https://public.example/a", header)) == "secretRefused")
        #expect(try refusal(#"{"download": "http://store.example:9000/a", "to": "a"\#(header)}"#) == nil)
        #expect(try refusal(#"{"download": "http://store.example:9001/a", "to": "a"\#(header)}"#) == "secretRefused")
    }

    /// Jobs of a queue of many machines may name any server and any command.
    @Test func aHookFromOutsideIsNotCalled() async throws {
        let folder = try TemporaryFolder("outside")
        var rules = OutsideRules(directory: folder.path)
        rules.allowsPrivate = true
        try await withTestServer { server in
            server.serve("/x", ServedFile(.text("x")))
            server.acceptUploads("/hook")
            try await withPlainQueue(accepting: { [rules] spec throws(TransferError) in try rules.accepted(spec) }) {
                queue in
                let log = EventLog(queue)
                let hook = FinishHook.Webhook(url: .literal(server.url("/hook")), secret: .file("/etc/hostname"))
                let job = Sample.download(server.url("/x"), to: folder.path("x"), id: "x")
                let batch = try await queue.stage(
                    name: "b", source: nil, directory: folder.path, onFinish: BatchHook(.webhook(hook))
                ) { add in
                    try add(job, nil)
                    return true
                }
                let summary = try await within { try await queue.run([batch]) }
                #expect(summary.totals["b"]?.completed == 1 && summary.hooksFailed == 1)
                let reported = log.events.compactMap { if case .hook(let news) = $0.kind { news } else { nil } }
                guard case .failed(let error)? = reported.first?.state, reported.count == 1 else {
                    Issue.record("\(reported)")
                    return
                }
                #expect(error.message.contains(#"the worker refuses it: "onFinish""#), "\(error)")
            }
            #expect(server.requests.map(\.path) == ["/x"])
        }
    }
}

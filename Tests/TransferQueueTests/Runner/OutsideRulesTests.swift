import Testing
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

/// Credentials of this machine, and the servers that jobs from outside may show them to.
@Suite struct OutsideRulesTests {
    private static let allowance = "keys=http://store.example:9000"

    /// - Returns: The code of the refusal; `nil` where the job is taken.
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
}

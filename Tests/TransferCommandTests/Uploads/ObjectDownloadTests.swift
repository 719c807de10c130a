import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Downloads by `s3://`, which are requested in the bucket's region.
@Suite(.timeLimit(.minutes(2))) struct ObjectDownloadTests {
    enum Word: CaseIterable {
        case malformed, moved

        var fault: Fault {
            switch self {
            case .malformed: ObjectDownloadTests.wrongRegion("eu-west-3")
            case .moved:
                .status(
                    301, headers: ["x-amz-bucket-region": "eu-west-3"],
                    body: .text(ObjectDownloadTests.refusal("PermanentRedirect")))
            }
        }
    }

    @Test(arguments: Word.allCases) func theRegionThatTheServerNamesIsAskedAtNoCost(_ word: Word) async throws {
        try await withTestServer { server in
            let place = try place(server, ["f", "g"])
            server.script("/bucket/f", [word.fault])
            let result = try await place.runJobs("-j", "1")
            #expect(result.exitCode == 0, "\(result)")
            for name in ["f", "g"] { #expect(try place.content(name) == place.content("out.bin")) }
            let regions = server.requests.map { $0.headers["Authorization"].flatMap(Self.region) }
            #expect(regions == ["us-east-1", "eu-west-3", "eu-west-3"])
        }
    }

    @Test func aServerThatNamesOneRegionAfterTheOtherIsNotFollowed() async throws {
        try await withTestServer { server in
            let place = try place(server, ["f"])
            let faults = ["eu-west-3", "eu-west-2", "eu-west-1"].map(Self.wrongRegion)
            server.script("/bucket/f", faults)
            let result = try await place.runJobs()
            #expect(result.exitCode == 1, "\(result)")
            #expect(server.requests.count == 2)
            #expect(result.standardError.contains("AuthorizationHeaderMalformed: this is why"), "\(result)")
        }
    }

    @Test func aRefusalIsReportedInTheServersWords() async throws {
        try await withTestServer { server in
            let place = try place(server, ["f"])
            server.script("/bucket/f", [.status(404, body: .text(Self.refusal("NoSuchKey")))])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1, "\(result)")
            #expect(result.standardError.contains("NoSuchKey: this is why"), "\(result)")
            #expect(!place.folder.exists("f"))
        }
    }

    private func place(_ server: TestServer, _ names: [String]) throws -> Workplace {
        let place = try Workplace()
        try place.folder.write(count: 200_000, seed: 3, to: "out.bin")
        try place.folder.write("b", to: "secret")
        for name in names { server.serve("/bucket/\(name)", .bytes(try place.content("out.bin")), etag: "\"v\"") }
        let s3 = #""s3": {"endpoint": "\#(server.url(""))", "accessKey": "a", "secretKey": {"file": "secret"}}"#
        try place.jobs(
            names.map { #"{"id": "\#($0)", "download": "s3://bucket/\#($0)", "to": "\#($0)"}"# },
            extra: #""defaults": {"retry": {"limit": 0}, \#(s3)}, "#)
        return place
    }

    private static func wrongRegion(_ right: String) -> Fault {
        .status(400, body: .text(refusal("AuthorizationHeaderMalformed", "<Region>\(right)</Region>")))
    }

    private static func refusal(_ code: String, _ more: String = "") -> String {
        "<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>this is why</Message>\(more)</Error>"
    }

    private static func region(_ authorization: String) -> String? {
        authorization.split(separator: "/").dropFirst(2).first.map(String.init)
    }
}

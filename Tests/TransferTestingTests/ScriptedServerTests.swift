import Foundation
import Glibc
import Testing
import TransferKit
import TransferTestSupport
import TransferTesting

/// The features of the server for tests that its page does not show.
@Suite(.timeLimit(.minutes(1))) struct ScriptedServerTests {
    @Test func listensOnAPortOfItsOwn() throws {
        let one = try ScriptedServer()
        let other = try ScriptedServer()
        #expect(one.port != other.port && one.url("/x") == "http://127.0.0.1:\(one.port)/x")
        one.stop()
        other.stop()
    }

    @Test func answersRangesAndValidatorsAsRFC9110HasThem() async throws {
        try await withScriptedServer { server in
            server.serve("/x", .text("0123456789"), contentType: "text/plain", headers: ["X-A": "1"])
            let part = await AF.request(server.url("/x"), headers: ["Range": "bytes=2-4"]).serializingString().response
            #expect(part.response?.statusCode == 206 && part.value == "234")
            #expect(part.response?.value(forHTTPHeaderField: "X-A") == "1")
            let session = Session(configuration: .ephemeral)
            let known = await session.request(server.url("/x"), headers: ["If-None-Match": "\"1\""])
                .serializingData(emptyResponseCodes: [304]).response
            #expect(known.response?.statusCode == 304)
            server.remove("/x")
            let gone = await session.request(server.url("/x")).serializingData().response
            #expect(gone.response?.statusCode == 404)
        }
    }

    @Test func requestsAreRecorded() async throws {
        try await withScriptedServer { server in
            let uploads = server.acceptUploads("/in/*")
            _ = await AF.upload(Data("abc".utf8), to: server.url("/in/1?q=2"), method: .put, headers: ["X-B": "2"])
                .serializingData(emptyResponseCodes: [201]).response
            try await server.waitForAnswers(1)
            let request = try #require(server.requests(to: "/in/1").first)
            #expect(request.method == "PUT" && request.query == "q=2" && request.header("x-b") == "2")
            #expect(request.host == "127.0.0.1" && server.connectionCount == 1 && server.peakRequests == 1)
            let upload = try #require(uploads.all.first)
            #expect(upload.bytes == Array("abc".utf8) && upload.isComplete && upload.header("X-B") == "2")
        }
    }

    @Test func aFaultIsForOneRequestOfItsMethodInTheirOrder() async throws {
        try await withScriptedServer { server in
            server.serve("/x", .text("x"))
            server.script("/x", method: "GET", [.status(500), .none, .redirect(to: "/y")], afterwards: .status(410))
            var statuses: [Int?] = []
            for method in ["GET", "GET", "GET", "GET"] {
                let answer = await Session(configuration: .ephemeral)
                    .request(server.url("/x"), method: HTTPMethod(rawValue: method)).redirect(using: .doNotFollow)
                    .serializingData(emptyResponseCodes: [200, 302, 410, 500]).response
                statuses.append(answer.response?.statusCode)
            }
            #expect(statuses == [500, 200, 302, 410])
        }
    }

    @Test func aWaitInVainReportsTheReceivedRequests() async throws {
        try await withScriptedServer { server in
            await #expect {
                try await server.waitForRequests(1, timeout: .milliseconds(20))
            } throws: { "\($0)".contains("waited") && "\($0)".contains("0 requests") }
        }
    }
}

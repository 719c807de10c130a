import Foundation
import FoundationNetworking
import Testing
import TransferTestServer

@testable import TransferNetworking

/// Document 000 again: metrics, and responses that are mapped.
@Suite("Snippets of document 000 about responses", .timeLimit(.minutes(1)))
struct Snippets000ResponseTests {
    struct SomeType: Decodable { let url: String }

    // 285
    @Test func aResponseHasTheMetricsOfItsTransfer() async throws {
        try await withHTTPBin { server async throws in
            let metrics = await handed { done in
                AF.request(server.url("/get"))
                    .responseDecodable(of: SomeType.self) { response in
                        done(response.metrics)
                    }
            }
            try expectTimes(in: metrics)
        }
    }

    // 761
    @Test func eachHandlerHasItsTypeOfResponse() async throws {
        try await withHTTPBin { server async throws in
            let data = await handed { done in
                AF.request(server.url("/get")).responseData { (resp: AFDataResponse<Data>) in done(resp) }
            }
            #expect(data.value?.isEmpty == false)
            let string = await handed { done in
                AF.request(server.url("/get")).responseString { (resp: AFDataResponse<String>) in done(resp) }
            }
            #expect(string.value?.hasPrefix("{") == true)
            let url = await handed { done in
                AF.request(server.url("/get")).responseJSON { resp in
                    done((resp.value as? [String: Any])?["url"] as? String)
                }
            }
            #expect(url == server.url("/get"))
            let list = try PropertyListSerialization.data(fromPropertyList: ["a": 1], format: .xml, options: 0)
            server.serve("/list", ServedFile(.bytes([UInt8](list)), contentType: "application/x-plist"))
            let number = await handed { done in
                AF.request(server.url("/list")).response(responseSerializer: .propertyList) { resp in
                    done((resp.value as? [String: Any])?["a"] as? Int)
                }
            }
            #expect(number == 1)
        }
    }

    // 781
    @Test func mappingAResponseKeepsEverythingButItsValue() async throws {
        try await withUsers { server in
            let transcript = Transcript()
            await handed { done in
                AF.request(server.url("/users/mattt")).responseJSON { response in
                    let userResponse = response.map { json in
                        User(json: json)
                    }

                    // Process userResponse, of type DataResponse<User>:
                    if let user = userResponse.value {
                        transcript.print("User: { username: \(user.username), name: \(user.name) }")
                    }
                    #expect(userResponse.response === response.response)
                    #expect(userResponse.data == response.data)
                    done(())
                }
            }
            #expect(transcript.text == "User: { username: mattt, name: Mattt }")
        }
    }

    // 797; `flatMap` there is `tryMap`.
    @Test func aMappingThatThrowsIsAFailure() async throws {
        try await withUsers { server in
            for (path, isUser) in [("/users/mattt", true), ("/users/nobody", false)] {
                let result = await handed { done in
                    AF.request(server.url(path)).responseJSON { response in
                        let userResponse = response.tryMap { json in
                            try User(checking: json)
                        }
                        done(userResponse.result.map(\.username))
                    }
                }
                switch result {
                case .success(let name):
                    #expect(isUser)
                    #expect(name == "mattt")
                case .failure(let error):
                    #expect(!isUser)
                    #expect(error is User.Incomplete)
                }
            }
        }
    }

    // 807
    @Test func aMappedResponseIsHandedToAHandlerOfOnesOwn() async throws {
        @discardableResult
        func loadUser(
            from url: String, completionHandler: @escaping @Sendable (DataResponse<User, any Error>) -> Void
        ) -> DataRequest {
            return AF.request(url).responseJSON { response in
                let userResponse = response.tryMap { json in
                    try User(checking: json)
                }

                completionHandler(userResponse)
            }
        }

        try await withUsers { server in
            let transcript = Transcript()
            await handed { done in
                loadUser(from: server.url("/users/mattt")) { response in
                    if let user = response.value {
                        transcript.print("User: { username: \(user.username), name: \(user.name) }")
                    }
                    done(())
                }
            }
            #expect(transcript.text == "User: { username: mattt, name: Mattt }")
        }
    }

    // 828
    @Test func aMappingCanBeDoneOutsideOfTheMainQueue() async throws {
        @discardableResult
        func loadUser(
            from url: String, completionHandler: @escaping @Sendable (DataResponse<User, any Error>) -> Void
        ) -> DataRequest {
            let utilityQueue = DispatchQueue.global(qos: .utility)

            return AF.request(url).responseJSON(queue: utilityQueue) { response in
                let userResponse = response.tryMap { json in
                    dispatchPrecondition(condition: .notOnQueue(.main))
                    return try User(checking: json)
                }

                DispatchQueue.main.async {
                    completionHandler(userResponse)
                }
            }
        }

        try await withUsers { server in
            let name = await handed { done in
                loadUser(from: server.url("/users/mattt")) { response in
                    dispatchPrecondition(condition: .onQueue(.main))
                    done(response.value?.name)
                }
            }
            #expect(name == "Mattt")
        }
    }

    // 845
    @Test func downloadResponsesAreMappedToo() async throws {
        try await withUsers { server in
            let name = await handed { done in
                AF.download(server.url("/users/mattt")).responseJSON { response in
                    done(response.tryMap { try User(checking: $0) }.value?.name)
                }
            }
            #expect(name == "Mattt")
        }
    }

    /// A server that knows one user.
    private func withUsers(_ body: (TestServer) async throws -> Void) async throws {
        try await withTestServer { server async throws in
            let user = Content.text(#"{"username":"mattt","name":"Mattt"}"#)
            server.serve("/users/mattt", ServedFile(user, contentType: "application/json"))
            server.serve("/users/nobody", ServedFile(.text("{}"), contentType: "application/json"))
            try await body(server)
        }
    }
}

private struct User: Sendable {
    struct Incomplete: Error {}

    let username: String
    let name: String

    init(json: Any) {
        let members = json as? [String: Any]
        username = members?["username"] as? String ?? ""
        name = members?["name"] as? String ?? ""
    }

    init(checking json: Any) throws {
        self.init(json: json)
        if username.isEmpty { throw Incomplete() }
    }
}

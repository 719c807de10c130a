import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Document 002 again: the snippets whose answers are JSON without a type, and the uploads.
@Suite("Snippets of document 002 with responseJSON", .timeLimit(.minutes(1)))
struct Snippets002JSONTests {
    // MARK: Headers

    // 310
    @Test func headersAreADictionaryLiteral() async throws {
        try await withHTTPBin { server async throws in
            let headers: HTTPHeaders = [
                "Authorization": "Basic VXNlcm5hbWU6UGFzc3dvcmQ=",
                "Accept": "application/json",
            ]

            let sent = await handed { done in
                AF.request(server.url("/headers"), headers: headers).responseJSON { response in
                    done(reported("headers", in: response.value))
                }
            }
            #expect(sent?["Authorization"] == "Basic VXNlcm5hbWU6UGFzc3dvcmQ=")
            #expect(sent?["Accept"] == "application/json")
            // Line 336: the headers that a session adds automatically.
            #expect(sent?["Accept-Encoding"] == "br;q=1.0, gzip;q=0.9, deflate;q=0.8")
            #expect(sent?["Accept-Language"] == HTTPHeader.defaultAcceptLanguage.value)
            #expect(sent?["User-Agent"] == HTTPHeader.defaultUserAgent.value)
        }
    }

    // 323
    @Test func headersAreAListOfStaticValues() async throws {
        try await withHTTPBin { server async throws in
            let headers: HTTPHeaders = [
                .authorization(username: "Username", password: "Password"),
                .accept("application/json"),
            ]

            let sent = await handed { done in
                AF.request(server.url("/headers"), headers: headers).responseJSON { response in
                    done(reported("headers", in: response.value))
                }
            }
            #expect(sent?["Authorization"] == "Basic VXNlcm5hbWU6UGFzc3dvcmQ=")
            #expect(sent?["Accept"] == "application/json")
        }
    }

    // 621; `.authenticate` there is `.authorization`.
    @Test func credentialsCanBeAHeader() async throws {
        try await withHTTPBin { server async throws in
            let user = "user"
            let password = "password"

            let headers: HTTPHeaders = [.authorization(username: user, password: password)]

            let status = await handed { done in
                AF.request(server.url("/basic-auth/user/password"), headers: headers)
                    .responseJSON { response in
                        done(response.response?.statusCode)
                    }
            }
            #expect(status == 200)
            #expect(server.requests.count == 1)
        }
    }

    // MARK: Responses

    // 352
    @Test func automaticValidationTakesStatusesOfSuccess() async throws {
        try await withHTTPBin { server async throws in
            let transcript = Transcript()
            for path in ["/get", "/status/500"] {
                await handed { done in
                    AF.request(server.url(path)).validate().responseJSON { response in
                        switch response.result {
                        case .success:
                            transcript.print("Validation Successful")
                        case .failure(let error):
                            transcript.print(error.responseCode ?? 0)
                        }
                        done(())
                    }
                }
            }
            #expect(transcript.all == ["Validation Successful", "500"])
        }
    }

    // 385
    @Test func aResponseHasItsRequestItsHeadItsResultAndItsBytes() async throws {
        try await withHTTPBin { server async throws in
            let transcript = Transcript()
            await handed { done in
                AF.request(server.url("/get")).responseJSON { response in
                    transcript.print("Request: \(String(describing: response.request))")
                    transcript.print("Response: \(String(describing: response.response))")
                    transcript.print("Result: \(response.result)")

                    switch response.result {
                    case .success(let value):
                        transcript.print("JSON: \(value)")
                    case .failure(let error):
                        transcript.print("Request failed: \(error)")
                    }

                    // Display response data as a String.
                    if let data = response.data {
                        transcript.print("Data: \(String(decoding: data, as: UTF8.self))")
                    }
                    done(())
                }
            }
            let beginnings = ["Request: Optional(", "Response: Optional(", "Result: success(", "JSON: ", "Data: {"]
            #expect(transcript.all.count == beginnings.count)
            for (line, beginning) in zip(transcript.all, beginnings) { #expect(line.hasPrefix(beginning)) }
            #expect(transcript.all[0].contains(server.url("/get")))
        }
    }

    // 508
    @Test func aJSONResponseIsADictionary() async throws {
        try await withHTTPBin { server async throws in
            let transcript = Transcript()
            let url = await handed { done in
                AF.request(server.url("/get")).responseJSON { response in
                    transcript.debugPrint("Response: \(response)")

                    if let json = response.value {
                        transcript.print("JSON: \(json)")
                    }
                    done((response.value as? [String: Any])?["url"] as? String)
                }
            }
            #expect(url == server.url("/get"))
            #expect(transcript.all.count == 2)
        }
    }

    // 542
    @Test func chainedHandlersAreCalledInOrderForOneTransfer() async throws {
        try await withHTTPBin { server async throws in
            let transcript = Transcript()
            await handed { done in
                AF.request(server.url("/get"))
                    .responseString { response in
                        transcript.print("Response String: \(response.value ?? "")")
                    }
                    .responseJSON { response in
                        transcript.print("Response JSON: \(String(describing: response.value))")
                        done(())
                    }
            }
            #expect(transcript.all.first?.hasPrefix("Response String: {") == true)
            #expect(transcript.all.last?.hasPrefix("Response JSON: Optional(") == true)
            #expect(server.requests.count == 1)
        }
    }

    // 558
    @Test func aHandlerIsCalledOnTheQueueThatWasNamed() async throws {
        try await withHTTPBin { server async throws in
            let utilityQueue = DispatchQueue(label: "utility", qos: .utility)

            let transcript = Transcript()
            await handed { done in
                AF.request(server.url("/get")).responseJSON(queue: utilityQueue) { response in
                    dispatchPrecondition(condition: .onQueue(utilityQueue))
                    transcript.print("Executed on utility queue.")
                    done(())
                }
            }
            #expect(transcript.text == "Executed on utility queue.")
        }
    }

    // MARK: Uploads

    // 750
    @Test func dataIsUploaded() async throws {
        try await withHTTPBin { server async throws in
            let data = Data("data".utf8)

            let sent = await handed { done in
                AF.upload(data, to: server.url("/post")).responseJSON { response in
                    done((response.value as? [String: Any])?["data"] as? String)
                }
            }
            #expect(sent == "data")
        }
    }

    // 760; the file is one of our own.
    @Test func aFileIsUploaded() async throws {
        try await withHTTPBin { server async throws in
            let folder = try TemporaryFolder("snippet")
            let fileURL = URL(fileURLWithPath: try folder.write("a video", to: "video.mov"))

            let sent = await handed { done in
                AF.upload(fileURL, to: server.url("/post")).responseJSON { response in
                    done((response.value as? [String: Any])?["data"] as? String)
                }
            }
            #expect(sent == "a video")
        }
    }

    // 770
    @Test func aFormIsUploadedInParts() async throws {
        try await withHTTPBin { server async throws in
            let form = await handed { done in
                AF.upload(
                    multipartFormData: { (multipartFormData) in
                        multipartFormData.append(Data("one".utf8), withName: "one")
                        multipartFormData.append(Data("two".utf8), withName: "two")
                    }, to: server.url("/post")
                ).responseJSON { (response) in
                    done(reported("form", in: response.value))
                }
            }
            #expect(form == ["one": "one", "two": "two"])
            #expect(server.requests.first?.headers["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
        }
    }

    // 783
    @Test func uploadAndDownloadProgressRunToTheEnd() async throws {
        try await withHTTPBin { server async throws in
            let folder = try TemporaryFolder("snippet")
            let bytes = Content.random(seed: 8, count: 1_000_000).bytes()
            let fileURL = URL(fileURLWithPath: folder.path("video.mov"))
            try Data(bytes).write(to: fileURL)

            let up = Calls<Double>()
            let down = Calls<Double>()
            let sent = await handed { done in
                AF.upload(fileURL, to: server.url("/post"))
                    .uploadProgress { progress in
                        up.add(progress.fractionCompleted)
                    }
                    .downloadProgress { progress in
                        down.add(progress.fractionCompleted)
                    }
                    .responseJSON { response in
                        done((response.value as? [String: Any])?["data"] as? String)
                    }
            }
            #expect(sent == "data:application/octet-stream;base64,\(Data(bytes).base64EncodedString())")
            #expect(await up.first { $0 == 1 } == 1)
            #expect(await down.first { $0 == 1 } == 1)
            #expect(up.all == up.all.sorted())
        }
    }

    // MARK: What a request can tell

    // 804
    @Test func aResponseHasTheMetricsOfItsTransfer() async throws {
        try await withHTTPBin { server async throws in
            let metrics = await handed { done in
                AF.request(server.url("/get")).responseJSON { response in
                    done(response.metrics)
                }
            }
            try expectTimes(in: metrics)
        }
    }

    // 814, and 826 for the text
    @Test func aRequestDescribesItselfAsACurlCommand() async throws {
        try await withHTTPBin { server async throws in
            let transcript = Transcript()
            await handed { done in
                AF.request(server.url("/get"))
                    .cURLDescription { description in
                        transcript.print(description)
                    }
                    .responseJSON { response in
                        done(())
                    }
            }
            let lines = transcript.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            #expect(lines.first == #"$ curl -v \"#)
            #expect(lines.contains(#"-X GET \"#))
            #expect(lines.contains(#"-H "Accept-Encoding: br;q=1.0, gzip;q=0.9, deflate;q=0.8" \"#))
            #expect(lines.contains { $0.hasPrefix(#"-H "Accept-Language: "#) })
            #expect(lines.contains { $0.hasPrefix(#"-H "User-Agent: "#) })
            #expect(lines.last == "\"\(server.url("/get"))\"")
        }
    }
}

/// Returns a dictionary of strings in httpbin's report.
private func reported(_ name: String, in value: Any?) -> [String: String]? {
    (value as? [String: Any])?[name] as? [String: String]
}

import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Document 002, *Using Alamofire*. The numbers are its lines.
@Suite("Snippets of document 002", .timeLimit(.minutes(1)))
struct Snippets002Tests {
    // MARK: Making requests

    // 14
    @Test func aRequestNeedsNothingButAString() async throws {
        try await withHTTPBin { server async throws in
            let transcript = Transcript()
            let response = await handed { done in
                AF.request(server.url("/get")).response { (response) in
                    transcript.debugPrint(response)
                    done(response)
                }
            }
            #expect(response.response?.statusCode == 200)
            let echo = try Echo(response.data)
            #expect(echo.url == server.url("/get"))
            #expect(!transcript.text.isEmpty)
        }
    }

    // 66
    @Test func everyMethodCanBePassed() async throws {
        try await withHTTPBin { server async throws in
            let urls = [
                try await AF.request(server.url("/get")).echo.url,
                try await AF.request(server.url("/post"), method: .post).echo.url,
                try await AF.request(server.url("/put"), method: .put).echo.url,
                try await AF.request(server.url("/delete"), method: .delete).echo.url,
            ]
            #expect(urls == ["/get", "/post", "/put", "/delete"].map { server.url($0) })
            #expect(server.requests.map(\.method) == ["GET", "POST", "PUT", "DELETE"])
        }
    }

    // 77
    @Test func aURLRequestHasItsMethodAsAValue() throws {
        var request = URLRequest(url: try #require(URL(string: "https://httpbin.org/get")))
        #expect(request.method == .get)
        request.method = .trace
        #expect(request.httpMethod == "TRACE")
        request.httpMethod = "PURGE"
        #expect(request.method == HTTPMethod(rawValue: "PURGE"))
    }

    // MARK: Parameters

    // 93, 111
    @Test func anEncodableValueIsPostedAsJSON() async throws {
        struct Login: Encodable {
            let email: String
            let password: String
        }

        try await withHTTPBin { server async throws in
            let login = Login(email: "test@test.test", password: "testPassword")

            let response = await handed { done in
                AF.request(
                    server.url("/post"),
                    method: .post,
                    parameters: login,
                    encoder: JSONParameterEncoder.default
                ).response { (response) in
                    done(response)
                }
            }
            let echo = try Echo(response.data)
            let sent = try JSONDecoder().decode([String: String].self, from: Data(#require(echo.data).utf8))
            #expect(sent == ["email": "test@test.test", "password": "testPassword"])
            #expect(echo.headers?["Content-Type"] == "application/json")
        }
    }

    // 141
    @Test func theThreeFormsOfAGETWithParametersAreTheSame() async throws {
        try await withHTTPBin { server async throws in
            let parameters = ["foo": "bar"]

            let requests = [
                AF.request(server.url("/get"), parameters: parameters),
                AF.request(
                    server.url("/get"), parameters: parameters, encoder: URLEncodedFormParameterEncoder.default),
                AF.request(
                    server.url("/get"), parameters: parameters,
                    encoder: URLEncodedFormParameterEncoder(destination: .methodDependent)),
            ]
            for request in requests {
                let echo = try await request.echo
                #expect(echo.url == server.url("/get?foo=bar"))
                #expect(echo.args == ["foo": "bar"])
            }
        }
    }

    // 153
    @Test func theThreeFormsOfAPOSTWithParametersAreTheSame() async throws {
        try await withHTTPBin { server async throws in
            let parameters: [String: [String]] = [
                "foo": ["bar"],
                "baz": ["a", "b"],
                "qux": ["x", "y", "z"],
            ]

            let requests = [
                AF.request(server.url("/post"), method: .post, parameters: parameters),
                AF.request(
                    server.url("/post"), method: .post, parameters: parameters,
                    encoder: URLEncodedFormParameterEncoder.default),
                AF.request(
                    server.url("/post"), method: .post, parameters: parameters,
                    encoder: URLEncodedFormParameterEncoder(destination: .httpBody)),
            ]
            for request in requests {
                let echo = try await request.echo
                #expect(echo.url == server.url("/post"))
                #expect(echo.form == ["foo[]": "bar", "baz[]": ["a", "b"], "qux[]": ["x", "y", "z"]])
                #expect(echo.headers?["Content-Type"] == "application/x-www-form-urlencoded; charset=utf-8")
            }
        }
    }

    /// What a server makes of a value that was posted with an encoder.
    private func posted(_ value: some Encodable & Sendable, with encoder: URLEncodedFormParameterEncoder) async throws
        -> [String: Echo.Field]?
    {
        let sent = Calls<[String: Echo.Field]?>()
        try await withHTTPBin { server async throws in
            sent.add(
                try await AF.request(server.url("/post"), method: .post, parameters: value, encoder: encoder).echo.form)
        }
        return sent.all[0]
    }

    // 181
    @Test func arraysGoWithoutBracketsWhenAsked() async throws {
        let encoder = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(arrayEncoding: .noBrackets))
        let form = try await posted(["foo": [1, 2]], with: encoder)
        #expect(form == ["foo": ["1", "2"]])
    }

    // 196
    @Test func boolsAreNumbersOrWords() async throws {
        let encoder = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(boolEncoding: .numeric))
        let form = try await posted(["yes": true, "no": false], with: encoder)
        #expect(form == ["yes": "1", "no": "0"])
        let literal = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(boolEncoding: .literal))
        let words = try await posted(["yes": true, "no": false], with: literal)
        #expect(words == ["yes": "true", "no": "false"])
    }

    // 210
    @Test func dataIsBase64() async throws {
        let encoder = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(dataEncoding: .base64))
        let form = try await posted(["data": Data([0xFF, 0xFE, 0x3F])], with: encoder)
        #expect(form == ["data": "//4/"])
    }

    // 227
    @Test func datesAreISO8601() async throws {
        let encoder = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(dateEncoding: .iso8601))
        let form = try await posted(["date": Date(timeIntervalSince1970: 123)], with: encoder)
        #expect(form == ["date": "1970-01-01T00:02:03Z"])
    }

    // 244
    @Test func keysAreSnakeCase() async throws {
        struct Counts: Encodable {
            let oneTwoThree: Int
        }

        let encoder = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(keyEncoding: .convertToSnakeCase))
        let form = try await posted(Counts(oneTwoThree: 4), with: encoder)
        #expect(form == ["one_two_three": "4"])
    }

    // 257
    @Test func spacesArePluses() async throws {
        let encoder = URLEncodedFormParameterEncoder(encoder: URLEncodedFormEncoder(spaceEncoding: .plusReplaced))
        var request = URLRequest(url: try #require(URL(string: "https://httpbin.org/post")))
        request.method = .post
        let encoded = try encoder.encode(["a b": "c d"], into: request)
        #expect(encoded.httpBody == Data("a+b=c+d".utf8))
        let form = try await posted(["a b": "c d"], with: encoder)
        #expect(form == ["a b": "c d"])
    }

    // 267
    @Test func theThreeJSONEncodersSendTheSameValue() async throws {
        try await withHTTPBin { server async throws in
            let parameters: [String: [String]] = [
                "foo": ["bar"],
                "baz": ["a", "b"],
                "qux": ["x", "y", "z"],
            ]

            let requests = [
                AF.request(
                    server.url("/post"), method: .post, parameters: parameters, encoder: JSONParameterEncoder.default),
                AF.request(
                    server.url("/post"), method: .post, parameters: parameters,
                    encoder: JSONParameterEncoder.prettyPrinted),
                AF.request(
                    server.url("/post"), method: .post, parameters: parameters,
                    encoder: JSONParameterEncoder.sortedKeys),
            ]
            var bodies: [String] = []
            for request in requests {
                let body = try #require(try await request.echo.data)
                let sent = try JSONDecoder().decode([String: [String]].self, from: Data(body.utf8))
                #expect(sent == parameters)
                bodies.append(body)
            }
            #expect(bodies[1].contains("\n"))
            #expect(bodies[2] == #"{"baz":["a","b"],"foo":["bar"],"qux":["x","y","z"]}"#)
        }
    }

    // 285
    @Test func aJSONEncoderOfOnesOwnIsUsed() async throws {
        struct Event: Encodable {
            let startDate: Date
        }

        try await withHTTPBin { server async throws in
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            encoder.keyEncodingStrategy = .convertToSnakeCase
            let parameterEncoder = JSONParameterEncoder(encoder: encoder)

            let event = Event(startDate: Date(timeIntervalSince1970: 0))
            let echo = try await AF.request(
                server.url("/post"), method: .post, parameters: event, encoder: parameterEncoder
            ).echo
            #expect(echo.data == #"{"start_date":"1970-01-01T00:00:00Z"}"#)
        }
    }

    // 296
    @Test func aURLRequestCanBeEncodedByHand() async throws {
        try await withHTTPBin { server async throws in
            let url = try #require(URL(string: server.url("/get")))
            let urlRequest = URLRequest(url: url)

            let parameters = ["foo": "bar"]
            let encodedURLRequest = try URLEncodedFormParameterEncoder.default.encode(parameters, into: urlRequest)

            let echo = try await AF.request(encodedURLRequest).echo
            #expect(echo.args == ["foo": "bar"])
        }
    }

    // MARK: Responses

    // 365
    @Test func statusesAndTypesCanBeNamed() async throws {
        try await withHTTPBin { server async throws in
            let transcript = Transcript()
            for path in ["/get", "/status/404", "/html"] {
                await handed { done in
                    AF.request(server.url(path))
                        .validate(statusCode: 200..<300)
                        .validate(contentType: ["application/json"])
                        .responseData { response in
                            switch response.result {
                            case .success:
                                transcript.print("Validation Successful")
                            case .failure(let error):
                                transcript.print(error.responseCode ?? error.responseContentType ?? "?")
                            }
                            done(())
                        }
                }
            }
            #expect(transcript.all == ["Validation Successful", "404", "text/html"])
        }
    }

    // 462
    @Test func anUnserializedResponseHasTheBytes() async throws {
        try await withHTTPBin { server async throws in
            let transcript = Transcript()
            await handed { done in
                AF.request(server.url("/get")).response { response in
                    transcript.debugPrint("Response: \(response)")

                    if let data = response.data {
                        transcript.print("Data: \(String(decoding: data, as: UTF8.self))")
                    }
                    done(())
                }
            }
            #expect(transcript.all.count == 2)
            #expect(transcript.text.contains(#""url": "\#(server.url("/get"))""#))
        }
    }

    // 478
    @Test func aDataResponseHasTheBytesAsItsValueToo() async throws {
        try await withHTTPBin { server async throws in
            let transcript = Transcript()
            let value = await handed { done in
                AF.request(server.url("/get")).responseData { response in
                    transcript.debugPrint("Response: \(response)")

                    if let data = response.data {
                        transcript.print("Data: \(String(decoding: data, as: UTF8.self))")
                    }
                    done(response.value)
                }
            }
            let text = String(decoding: try #require(value), as: UTF8.self)
            #expect(transcript.all.last == "Data: \(text)")
            #expect(text.contains(server.url("/get")))
        }
    }

    // 492
    @Test func aStringResponseIsText() async throws {
        try await withHTTPBin { server async throws in
            let transcript = Transcript()
            await handed { done in
                AF.request(server.url("/encoding/utf8")).responseString { response in
                    transcript.debugPrint("Response: \(response)")

                    if let string = response.value {
                        transcript.print("String: \(string)")
                    }
                    done(())
                }
            }
            #expect(transcript.all.last?.contains("Γειά σου Κόσμε") == true)
        }
    }

    // 524
    @Test func aDecodableResponseIsDecoded() async throws {
        struct HTTPBinResponse: Decodable { let url: String }

        try await withHTTPBin { server async throws in
            let transcript = Transcript()
            await handed { done in
                AF.request(server.url("/get")).responseDecodable(of: HTTPBinResponse.self) { response in
                    transcript.debugPrint("Response: \(response)")

                    if let json = response.value {
                        transcript.print("JSON: \(json)")
                    }
                    done(())
                }
            }
            #expect(transcript.all.last == #"JSON: HTTPBinResponse(url: "\#(server.url("/get"))")"#)
        }
    }

    // MARK: Downloads

    // 639
    @Test func aDownloadCanBeReadBackAsData() async throws {
        try await withHTTPBin { server async throws in
            let image = await handed { done in
                AF.download(server.url("/image/png")).responseData { response in
                    done(response.value)
                }
            }
            #expect(image?.starts(with: [0x89, 0x50, 0x4E, 0x47]) == true)
        }
    }

    // 658
    @Test func aDestinationReplacesWhatWasThereAndMakesItsFolder() async throws {
        try await withHTTPBin { server async throws in
            let folder = try TemporaryFolder("snippet")
            try folder.write("old", to: "documents/image.png")
            let destination: DownloadRequest.Destination = { _, _ in
                let documentsURL = URL(fileURLWithPath: folder.path("documents"))
                let fileURL = documentsURL.appendingPathComponent("image.png")
                return (fileURL, [.removePreviousFile, .createIntermediateDirectories])
            }

            let image = await handed { done in
                AF.download(server.url("/image/png"), to: destination).response { response in
                    if response.error == nil, let imagePath = response.fileURL?.path {
                        done(FileManager.default.contents(atPath: imagePath))
                    } else {
                        done(nil)
                    }
                }
            }
            #expect(image?.starts(with: [0x89, 0x50, 0x4E, 0x47]) == true)
            #expect(try folder.files() == ["documents/image.png"])
        }
    }

    // 676. The last step is another one: a test leaves no files in anybody's documents.
    @Test func aSuggestedDestinationIsTheDocumentsFolderAndTheServersName() async throws {
        try await withHTTPBin { server async throws in
            let folder = try TemporaryFolder("snippet")
            let suggested = Calls<URL>()
            let destination = DownloadRequest.suggestedDownloadDestination(for: .documentDirectory)
            let elsewhere: DownloadRequest.Destination = { temporaryURL, response in
                suggested.add(destination(temporaryURL, response).destinationURL)
                return (URL(fileURLWithPath: folder.path("file")), [])
            }
            let file = await AF.download(server.url("/download/5"), to: elsewhere)
                .serializingDownloadedFileURL().response
            #expect(file.error == nil)
            let documents = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first
            #expect(suggested.all.first?.path == documents?.appendingPathComponent("download-5.bin").path)
        }
    }

    // 685
    @Test func downloadProgressRunsToTheEnd() async throws {
        try await withHTTPBin { server async throws in
            let fractions = Calls<Double>()
            let image = await handed { done in
                AF.download(server.url("/image/png"))
                    .downloadProgress { progress in
                        fractions.add(progress.fractionCompleted)
                    }
                    .responseData { response in
                        done(response.value)
                    }
            }
            #expect(image?.isEmpty == false)
            #expect(fractions.all.last == 1)
        }
    }

    // 701
    @Test func downloadProgressCanBeToldOnAnotherQueue() async throws {
        try await withHTTPBin { server async throws in
            let utilityQueue = DispatchQueue(label: "utility", qos: .utility)

            let fractions = Calls<Double>()
            let image = await handed { done in
                AF.download(server.url("/image/png"))
                    .downloadProgress(queue: utilityQueue) { progress in
                        dispatchPrecondition(condition: .onQueue(utilityQueue))
                        fractions.add(progress.fractionCompleted)
                    }
                    .responseData { response in
                        done(response.value)
                    }
            }
            #expect(image?.isEmpty == false)
            #expect(await fractions.first { $0 == 1 } == 1)
        }
    }

    // 723
    @Test func aCancelledDownloadGoesOnFromItsResumeData() async throws {
        try await withHTTPBin { server async throws in
            server.script("/download/600000", [.stall(after: 200_000)])
            let arrived = Calls<Int64>()
            let download = AF.download(server.url("/download/600000"))
                .downloadProgress { arrived.add($0.completedUnitCount) }
                .responseData { _ in }
            _ = await arrived.first { $0 == 200_000 }

            let resumeData = await handed { done in
                _ = download.cancel { (data) in
                    done(data)
                }
            }

            let value = await handed { done in
                AF.download(resumingWith: resumeData ?? Data()).responseData { response in
                    done(response.value)
                }
            }
            #expect(value == Data(Content.random(seed: 0, count: 600_000).bytes()))
            #expect(server.requests.last?.range?.hasPrefix("bytes=") == true)
        }
    }
}

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
    @Test func aDestinationReplacesAFileAndMakesItsFolder() async throws {
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

    // 676. The last step differs: a test leaves no files in a user's documents.
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
    @Test func downloadProgressCanBeReportedOnAnotherQueue() async throws {
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
    @Test func aCancelledDownloadResumesFromItsResumeData() async throws {
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

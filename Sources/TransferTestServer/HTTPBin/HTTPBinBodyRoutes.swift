/// The routes of httpbin whose path determines the size of the body.
enum HTTPBinBodyRoutes {
    static let all: [HTTPBinRoute] = [
        HTTPBinRoute("/bytes/:") { request in sized(request) { octets(request, $0) } },
        HTTPBinRoute("/payloads/:") { request in sized(request) { octets(request, $0) } },
        HTTPBinRoute("/stream-bytes/:") { request in
            sized(request) { count in
                var plan = octets(request, count)
                plan.framing = .chunked(size: request.args["chunk_size"].flatMap { Int($0) } ?? 10 * 1024)
                return plan
            }
        },
        HTTPBinRoute("/stream/:") { request in
            sized(request) { count in
                let lines = (0..<count).map { index in
                    let line = request.described.merging(["id": .number("\(index)")]) { $1 }
                    return Array((JSONValue.object(line).line + "\n").utf8)
                }
                return chunks(lines, type: "application/json")
            }
        },
        HTTPBinRoute("/chunked/:") { request in
            sized(request) { count in
                let chunks = (0..<count).map { index in
                    let digits = "\(index % 10_000)"
                    return Array(("chunk" + String(repeating: "0", count: 4 - digits.count) + digits + "\n").utf8)
                }
                return Self.chunks(chunks, type: "application/octet-stream")
            }
        },
        HTTPBinRoute("/range/:") { request in
            sized(request) { count in
                let letters = (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
                return ServedFile(.bytes(letters), etag: "\"range\(count)\"").answer(to: request.request.head)
            }
        },
        HTTPBinRoute("/download/:") { request in
            sized(request) { count in
                let name = "attachment; filename=\"download-\(count).bin\""
                let file = ServedFile(
                    .random(seed: seed(request), count: Int64(count)), etag: "\"download\(count)\"",
                    headers: ["Content-Disposition": name])
                return file.answer(to: request.request.head)
            }
        },
    ]

    private static func sized(_ request: HTTPBinRequest, _ answer: (Int) -> ResponsePlan) -> ResponsePlan {
        request.number(0).map(answer) ?? .page("Not Found", status: 404)
    }

    private static func octets(_ request: HTTPBinRequest, _ count: Int) -> ResponsePlan {
        .body(.random(seed: seed(request), count: Int64(count)), type: "application/octet-stream")
    }

    private static func seed(_ request: HTTPBinRequest) -> UInt64 { request.args["seed"].flatMap { UInt64($0) } ?? 0 }

    /// Returns a chunked response; each piece is a chunk of its own, as long as all have the same length.
    private static func chunks(_ pieces: [[UInt8]], type: String) -> ResponsePlan {
        var plan = ResponsePlan(status: 200, headers: ["Content-Type": type], body: pieces.map { .bytes($0) })
        plan.framing = .chunked(size: pieces.first?.count ?? 1)
        return plan
    }
}

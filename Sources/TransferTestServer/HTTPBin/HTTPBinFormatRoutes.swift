/// The routes of httpbin with one body for each content coding and each media type.
enum HTTPBinFormatRoutes {
    static let all: [HTTPBinRoute] = [
        HTTPBinRoute("/gzip") { coded($0, "gzip", reported: "gzipped", by: Gzip.stored) },
        HTTPBinRoute("/deflate") { coded($0, "deflate", reported: "deflated", by: Zlib.stored) },
        HTTPBinRoute("/brotli") { coded($0, "br", reported: "brotli", by: Brotli.stored) },
        HTTPBinRoute("/json") { _ in .json(slideShow) },
        HTTPBinRoute("/xml") { _ in .body(.text(slideShowXML), type: "application/xml") },
        HTTPBinRoute("/html") { _ in .body(.text(page), type: "text/html; charset=utf-8") },
        HTTPBinRoute("/robots.txt") { _ in .body(.text("User-agent: *\nDisallow: /deny\n"), type: "text/plain") },
        HTTPBinRoute("/encoding/utf8") { _ in .body(.text(languages), type: "text/html; charset=utf-8") },
        HTTPBinRoute("/image/png") { _ in .body(.bytes(PNG.gradient(width: 64, height: 48)), type: "image/png") },
    ]

    private static func coded(
        _ request: HTTPBinRequest, _ coding: String, reported name: String, by encode: ([UInt8]) -> [UInt8]
    ) -> ResponsePlan {
        let value = JSONValue.object([
            name: .bool(true), "headers": request.describedHeaders, "method": .string(request.method),
            "origin": .string(request.origin),
        ])
        var plan = ResponsePlan.body(.bytes(encode(Array(value.indented.utf8))), type: "application/json")
        plan.headers["Content-Encoding"] = coding
        return plan
    }

    private static let slideShow = JSONValue.object([
        "slideshow": .object([
            "author": .string("A. Tester"),
            "date": .string("date of publication"),
            "slides": .array([
                .object(["title": .string("First slide"), "type": .string("all")]),
                .object([
                    "items": .array([.string("Why <em>tests</em> are great"), .string("Who <em>reads</em> tests")]),
                    "title": .string("Second slide"), "type": .string("all"),
                ]),
            ]),
            "title": .string("Sample Slide Show"),
        ])
    ])

    private static let slideShowXML = """
        <?xml version='1.0' encoding='us-ascii'?>
        <slideshow title="Sample Slide Show" date="date of publication" author="A. Tester">
            <slide type="all"><title>First slide</title></slide>
            <slide type="all"><title>Second slide</title><item>Why <em>tests</em> are great</item></slide>
        </slideshow>

        """

    private static let page = """
        <!DOCTYPE html>
        <html><head><title>A page</title></head><body><h1>A page</h1><p>With one paragraph.</p></body></html>

        """

    private static let languages = """
        <h1>Unicode Demo</h1>
        <pre>
        STARGΛ̊TE SG-1, a = v̇ = r̈, ∮ E⋅da = Q, ∀x∈ℝ: ⌈x⌉ = −⌊−x⌋
        Γειά σου Κόσμε · Привет, мир · გამარჯობა · สวัสดีชาวโลก · こんにちは世界 · 👩‍🚀🚀
        </pre>

        """
}

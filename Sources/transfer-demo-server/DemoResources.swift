import TransferTestServer

/// The files of the demonstration, with their faults. The digests in `jobs/demo.json` match these contents, so a
/// changed seed or size needs a change there too.
enum DemoResources {
    private static let mebibyte: Int64 = 1 << 20
    private static let published = 1_760_000_000

    static func install(on server: TestServer) {
        installSteady(on: server)
        installCapricious(on: server)
        installMirrors(on: server)
        installUpload(on: server)
    }

    /// Installs the files without faults.
    private static func installSteady(on server: TestServer) {
        for number in 1...6 {
            let size = Int64(180_000 + number * 45_011)
            server.serve(
                "http://files.example/photos/0\(number).jpg", file(seed: UInt64(100 + number), size, "image/jpeg"))
        }
        server.serve("http://files.example/docs/manual.html", file(seed: 20, 300_007, "text/html"))
        server.script("http://files.example/docs/manual.html", [], afterwards: .chunked())
        server.serve("http://files.example/docs/index.html", file(seed: 21, 9_001, "text/html"))
        server.serve("http://files.example/docs/licence.txt", .text("You may copy this file.\n"), etag: "\"licence\"")
        server.serve("http://files.example/reports/summary.pdf", summary)
    }

    private static func installCapricious(on server: TestServer) {
        server.serve("http://files.example/images/system.iso", file(seed: 1, 256 * mebibyte))
        // The second cut counts from the offset at which the client resumes: half-way, and again at three quarters.
        server.script(
            "http://files.example/images/system.iso", [.cut(after: 128 * mebibyte), .cut(after: 64 * mebibyte)])

        server.serve("http://files.example/backups/customers.db", file(seed: 2, 64 * mebibyte))
        server.script("http://files.example/backups/customers.db", [.reset(after: 20 * mebibyte)])

        server.serve("http://mirror-b.example/data/census.csv", file(seed: 3, 8 * mebibyte, "text/csv"))
        server.script(
            "http://mirror-b.example/data/census.csv",
            [.status(503, headers: ["Retry-After": "1"], body: .text("Busy, come back in a second.\n"))])

        server.serve("http://files.example/data/genome.fa", file(seed: 4, 16 * mebibyte))
        server.script("http://files.example/data/genome.fa", [.cut(after: 6 * mebibyte), .ignoreRange])

        server.serve("http://files.example/maps/europe.pbf", file(seed: 5, 12 * mebibyte))
        server.script("http://files.example/maps/europe.pbf", [.stall(after: 5 * mebibyte)])

        let yesterday = ServedFile(.random(seed: 6, count: 4 * mebibyte), etag: "\"news-1\"", lastModified: published)
        let today = ServedFile(
            .random(seed: 7, count: 5 * mebibyte), etag: "\"news-2\"", lastModified: published + 86_400)
        server.serve("http://files.example/news/archive.tar", yesterday)
        server.script("http://files.example/news/archive.tar", [.cut(after: 2 * mebibyte), .replace(with: today)])
    }

    private static func installMirrors(on server: TestServer) {
        // The server mirror-a lacks this film: it answers 404.
        server.serve("http://mirror-b.example/films/short.mkv", file(seed: 8, 32 * mebibyte, "video/x-matroska"))

        let album = file(seed: 9, 24 * mebibyte)
        server.serve("http://mirror-a.example/music/album.flac", album)
        server.serve("http://mirror-b.example/music/album.flac", album)
        server.script(
            "http://mirror-a.example/music/album.flac", [.cut(after: 3 * mebibyte)], afterwards: .closeBeforeHead)

        server.script(
            "http://files.example/latest/tool.tar.gz", [],
            afterwards: .redirect(to: "http://mirror-b.example/releases/tool-2.1.tar.gz"))
        server.serve("http://mirror-b.example/releases/tool-2.1.tar.gz", file(seed: 10, 6 * mebibyte))
    }

    /// Installs the target of an upload. The uploaded file is one that was downloaded before, so the server can verify
    /// it.
    private static func installUpload(on server: TestServer) {
        let path = "http://files.example/in/summary.pdf"
        let expected = summary.content.bytes()
        server.handle("PUT", path) { request in
            request.body == expected
                ? Response(status: 201, headers: ["ETag": "\"received\""])
                : Response(status: 422, body: .text("These are not the bytes of the report.\n"))
        }
        server.script(path, [.cutUpload(after: mebibyte)])
        // The uploads of `jobs/watch.json`.
        server.acceptUploads("http://files.example/in/outbox/*", keepsBytes: false)
    }

    private static let summary = file(seed: 22, 3 * mebibyte + 7, "application/pdf")

    private static func file(seed: UInt64, _ size: Int64, _ type: String = "application/octet-stream") -> ServedFile {
        ServedFile(
            .random(seed: seed, count: size), etag: "\"demo-\(seed)\"", lastModified: published + Int(seed) * 60,
            contentType: type)
    }
}

import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

/// A Metalink as a list of jobs: RFC 5854, and version 3.
@Suite struct MetalinkTests {
    private let sums = (
        md5: String(repeating: "1", count: 32), sha1: String(repeating: "2", count: 40),
        sha256: String(repeating: "a", count: 64), sha512: String(repeating: "b", count: 128)
    )

    private func four(_ files: String) -> String {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">\n\(files)\n</metalink>\n"
    }

    private func file(_ content: String, name: String = "a.iso") -> String {
        four("<file name=\"\(name)\"><url>https://h.example/a</url>\(content)</file>")
    }

    private func download(_ text: String) throws -> JobSpec.Download? {
        let reading = try read(text, as: nil)
        guard reading.faults.isEmpty, reading.jobs.count == 1, case .download(let download) = reading.jobs[0].work
        else {
            return nil
        }
        return download
    }

    @Test func aFileIsAJobWithItsSourcesInTheirOrder() throws {
        let text = four(
            """
            <published>2026-11-26T08:00:00Z</published><generator>x</generator>
            <file name="isos/a.iso">
              <identity>A</identity><size>2621440</size><signature mediatype="application/pgp-signature">---</signature>
              <hash type="md5">\(sums.md5)</hash><hash type="sha-256"> \(sums.sha256.uppercased())
              </hash><hash type="sha-3">00</hash>
              <pieces length="1048576" type="sha-256"><hash>\(sums.sha256)</hash><hash>\(sums.sha256)</hash><hash>\(sums.sha256)</hash></pieces>
              <url priority="3" location="us">https://us.example/a.iso?x=1&amp;y=2</url>
              <url>https://last.example/a.iso</url>
              <url priority="1" location="DE">https://de.example/a.iso</url>
              <url priority="1">rsync://rsync.example/a.iso</url>
              <metaurl mediatype="torrent">https://h.example/a.torrent</metaurl>
              <x:url xmlns:x="urn:other">https://other.example/</x:url>
            </file>
            <file name="b"><url>https://h.example/b</url></file>
            """)
        for format in [nil, JobFileFormat.metalink] {
            let reading = try read(text, as: format)
            #expect(reading.lines == [] && reading.jobs.count == 2)
            guard case .download(let download) = reading.jobs.first?.work else { return }
            #expect(
                download.urls == [
                    "https://de.example/a.iso", "https://us.example/a.iso?x=1&y=2", "https://last.example/a.iso",
                ])
            #expect(download.destination == "isos/a.iso" && download.size == 2_621_440)
            #expect(download.checksum?.description == "sha256:\(sums.sha256)")
            #expect(download.pieces?.length == 1_048_576 && download.pieces?.digests.count == 3)
            #expect(reading.jobs[1].identity == "b")
        }
    }

    @Test func theNearerSourceComesFirstWithAKnownLocation() throws {
        let text = four(
            "<file name='a.iso'><url priority='1' location='us'>https://us.example/</url><url priority='9' location='de'>https://de.example/</url><url priority='2' location='fr'>https://fr.example/</url></file>"
        )
        var order: [[String]] = []
        for locations in [[], ["DE"], ["fr", "de"]] {
            var reader = JobFileReader(format: nil, metalink: MetalinkRules(locations: locations)) { _ in [] }
            _ = try reader.read(Array(text.utf8)) { element in
                if case .job(let job, _) = element { order.append(job.urls.map { String($0.dropFirst(8).prefix(2)) }) }
            }
        }
        #expect(order == [["us", "fr", "de"], ["de", "us", "fr"], ["fr", "de", "us"]])
    }

    @Test func theStrongestDigestCounts() throws {
        let all =
            "<hash type='sha-1'>\(sums.sha1)</hash><hash type='sha-512'>\(sums.sha512)</hash><hash type='sha-256'>\(sums.sha256)</hash>"
        #expect(try download(file(all))?.checksum?.algorithm == .sha512)
        #expect(try download(file("<hash type='md5'>\(sums.md5)</hash>"))?.checksum?.algorithm == .md5)
        #expect(try download(file("<hash type='sha-384'>zz</hash>"))?.checksum == nil)
        let pieces = ["sha-1": sums.sha1, "sha-256": sums.sha256].map {
            "<pieces length='4' type='\($0)'><hash>\($1)</hash></pieces>"
        }
        #expect(try download(file(pieces.joined()))?.pieces?.algorithm == .sha256)
    }

    @Test func versionThreeIsReadToo() throws {
        let text = """
            <?xml version="1.0"?><metalink version="3.0" xmlns="http://www.metalinker.org/"><files>
            <file name="a.iso"><size>7</size><verification><hash type="md5">\(sums.md5)</hash>
            <hash type="sha1">\(sums.sha1)</hash><pieces length="4" type="sha1"><hash piece="0">\(sums.sha1)</hash><hash
             piece="1">\(sums.sha1)</hash></pieces></verification><resources maxconnections="4">
            <url type="http" location="us" preference="90">http://us.example/a</url>
            <url type="bittorrent" preference="100">http://us.example/a.torrent</url>
            <url type="ftp" location="de" preference="100">ftp://de.example/a</url></resources></file></files></metalink>
            """
        let found = try #require(try download(text))
        #expect(found.urls == ["ftp://de.example/a", "http://us.example/a"] && found.size == 7)
        #expect(found.checksum?.algorithm == .sha1 && found.pieces?.digests.count == 2)
    }

    @Test(arguments: [
        ("a", "a"), ("x/y/z.iso", "x/y/z.iso"), ("./a", "a"), ("a//b", "a/b"), ("x\\y", "x/y"), ("a:b", "a_b"),
        (".bashrc", "_bashrc"), ("a\u{202E}b", "a_b"), ("/etc/passwd", nil), ("../a", nil), ("a/../../b", nil),
        ("..", nil), ("a/..", nil), ("a/", nil), ("C:\\x", nil), ("\\\\host\\x", nil), (".", nil), ("", nil),
        ("x/.ssh/authorized_keys", "x/_ssh/authorized_keys"),
    ])
    func aNameStaysInTheFolder(name: String, path: String?) { #expect(MetalinkName.path(name) == path) }

    @Test(arguments: [
        ("<file name='../x'><url>https://h.example/</url></file>", "3:7:4", "leads out of the folder"),
        ("<file><url>https://h.example/</url></file>", "3:1:6", "a file without a name"),
        ("<file name='a'/>", "3:1:16", "no URL of \"a\" is there"),
        ("<file name='a'><metaurl mediatype='torrent'>x</metaurl></file>", "3:1:15", "only torrents and the like"),
        ("<file name='a'><url>gopher://h/</url></file>", "3:21:11", "unsupported scheme"),
        ("<file name='a'><url>https://u:p@h.example/</url></file>", "3:21:22", "cannot carry a user or a password"),
        ("<file name='a'><url/></file>", "3:16:6", "a URL is missing"),
        ("<file name='a'><url priority='0'>https://h/</url></file>", "3:21:8", "a priority is a number"),
        ("<file name='a'><size>1k</size></file>", "3:22:2", "is no size in bytes"),
        ("<file name='a'><hash type='md5'>12</hash></file>", "3:33:2", "is no md5 in hexadecimal"),
        ("<file name='a'><hash>12</hash></file>", "3:16:6", "a hash without a type"),
        ("<file name='a'><pieces length='0' type='md5'/></file>", "3:16:31", "at least one byte"),
        ("<file name='a'><pieces length='1' type='md5'/></file>", "3:16:31", "pieces without a hash"),
        ("<file name='a'>", "4:1:11", "</metalink> ends nothing"),
        ("", "1:1:1", "describes no file"),
    ])
    func aFaultHasItsLineAndColumn(files: String, place: String, message: String) throws {
        let reading = try read(four(files), as: .metalink)
        #expect(reading.jobs.isEmpty)
        let found = try #require(reading.lines.first)
        #expect(found.hasPrefix(place + " ") && found.contains(message), "\(found)")
    }

    @Test func piecesAndASizeThatDontAgreeAreAFault() throws {
        let pieces =
            "<size>9</size><pieces length='4' type='md5'><hash>\(sums.md5)</hash><hash>\(sums.md5)</hash></pieces>"
        #expect(try read(file(pieces), as: .metalink).lines.first?.contains("cannot make a file of 9") == true)
    }

    /// The password of a URL is not repeated on a terminal.
    @Test func aSecretInALineIsntQuoted() throws {
        let reading = try read(four("<file name='a'><url>https://u:hunter2@h.example/</url></file>"), as: .metalink)
        #expect(!reading.report.rendered(file: "x.meta4").contains("hunter2"))
    }

    @Test func anotherDocumentIsReportedAsNoMetalink() throws {
        for text in ["<html></html>", "<metalink xmlns='urn:other'/>", "<metalink/>"] {
            #expect(try read(text, as: nil).lines.first?.contains("no Metalink") == true, "\(text)")
        }
    }

    @Test(arguments: [1, 7, 4096])
    func aMetalinkMayArriveInPieces(piece: Int) throws {
        let text = file("<size>3</size>")
        #expect(try read(text, as: nil, piece: piece).jobs == read(text, as: nil).jobs)
        #expect(try read(text, as: nil, piece: piece).jobs.count == 1)
    }

    /// Each truncated file is a fault or, at full length, valid; each file with a changed byte is read without a crash.
    @Test func noInputCrashesTheReader() throws {
        let text = Array(file("<size>3</size><pieces length='2' type='md5'><hash>\(sums.md5)</hash></pieces>").utf8)
        for length in stride(from: 1, to: text.count - 2, by: 3) {
            #expect(try !read(Array(text[..<length]), as: .metalink).report.isEmpty)
        }
        var seed: UInt64 = 3
        for _ in 0..<500 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            var changed = text
            changed[Int(seed >> 33) % text.count] = UInt8(truncatingIfNeeded: seed >> 20)
            for job in try read(changed, as: .metalink).jobs {
                #expect(!job.identity.hasPrefix("/") && !job.identity.contains(".."))
            }
        }
    }
}

/// The list of checksums of a whole batch, which proves each of its downloads.
@Suite struct ChecksumListTests {
    private let sum = String(repeating: "a", count: 64)

    @Test func aFileMissingInTheListIsRefusedWithoutAnotherProof() throws {
        let reading = try read(
            """
            {"version": 1, "defaults": {"checksums": "SUMS"}, "jobs": [
              {"download": "http://h/1", "to": "x"}, {"download": "http://h/2", "to": "y"},
              {"download": "http://h/3", "to": "z", "checksum": "md5:\(sum.prefix(32))"},
              {"download": "http://h/4", "to": "w", "checksums": false},
              {"download": "http://h/5", "to": "v", "pieces": {"length": 4, "digests": ["sha256:\(sum)"]}},
              {"download": "http://h/6", "to": "u", "checksums": true}]}
            """, files: ["SUMS": "\(sum)  x\n"])
        #expect(
            reading.lines == [
                "2:75:3 $.jobs[1].to no checksum for \"y\" is listed; \"checksums\": false takes it without one",
                "6:54:4 $.jobs[5].checksums name a list of checksums, or write false for none",
            ])
        #expect(reading.jobs.map(\.identity) == ["x", "z", "w", "v"])
    }

    @Test func theChecksumListAppliesToListsAndMetalinks() throws {
        for (text, format, place) in [
            ("http://h/x\nhttp://h/y\n", JobFileFormat.urlList, "2:1:"),
            (
                "<metalink xmlns='urn:ietf:params:xml:ns:metalink'>\n<file name='x'><url>http://h/1</url></file>\n<file name='y'><url>http://h/2</url></file></metalink>",
                .metalink, "3:7:"
            ),
        ] {
            var rules = RequestRules()
            #expect(rules.set("checksums", to: "\"SUMS\"", sums: { _ in Array("\(self.sum)  x\n".utf8) }) == nil)
            var faults: [JobFileFault] = []
            var reader = JobFileReader(format: format, rules: rules) { _ in Array("\(self.sum)  x\n".utf8) }
            _ = try reader.read(Array(text.utf8)) { element in
                if case .fault(let fault) = element { faults.append(fault) }
            }
            #expect(faults.count == 1 && faults.first?.message.contains("no checksum") == true, "\(faults)")
            #expect(faults.first.map { "\($0.span.line):\($0.span.column):" } == place)
        }
    }
}

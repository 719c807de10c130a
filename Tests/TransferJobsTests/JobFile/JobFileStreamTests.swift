import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

@Suite struct JobFileStreamTests {
    private static let lines = """
        \u{FEFF}{"version": 1, "name": "n", "defaults": {"priority": 7}, "limits": {"concurrency": 2}}\r

        {"download": "http://h/é", "to": "a"}\r
        {"download": "http://h/b", "to": "b", "priority": 1}
        {"download": "http://h/c" "to": "c"}
        {"download": "http://h/d", "to": "d"} x
          {"id": "e", "download": "http://h/e", "to": "e"}
        """

    @Test(arguments: [nil, 1, 7, 64])
    func readsJSONLinesInPiecesOfAnySize(piece: Int?) throws {
        for format in [JobFileFormat.jsonLines, nil] {
            let reading = try read(Self.lines, as: format, piece: piece)
            #expect(reading.batch == BatchSpec(name: "n", limits: BatchLimits(concurrency: 2)))
            #expect(reading.jobs.map(\.priority) == [7, 1, 7])
            #expect(reading.jobs.map { $0.download?.destination } == ["a", "b", "e"])
            #expect(
                reading.lines == [
                    #"5:27:1 $.download expected "," or "}", found a string"#, #"6:39:1 $ expected the end, found "x""#,
                ])
            #expect(reading.locations.last?.job == SourceSpan(line: 7, column: 3, length: 1))
            #expect(reading.locations.last?.path == "$")
            #expect(reading.report.jobCount == 5)
        }
    }

    @Test func handsOutAJobAsSoonAsItsLineIsThere() throws {
        var reader = JobFileReader(format: nil) { _ in [] }
        var jobs = 0
        func take(_ element: JobFileElement) { if case .job = element { jobs += 1 } }
        try reader.feed(Array("{\"download\": \"http://h/\", \"to\": \"a\"}".utf8), into: take)
        #expect(jobs == 0)
        try reader.feed(Array("\n".utf8), into: take)
        #expect(jobs == 1)
        #expect(try reader.finish(into: take).isEmpty)
    }

    @Test func checksTheHeaderOfJSONLines() throws {
        let reading = try read(
            "{\"version\": 2, \"defaults\": {\"to\": 1}, \"limit\": 1}\n{\"version\": 1}\n", as: .jsonLines)
        #expect(
            reading.lines == [
                "1:13:1 $.version version 2 is unknown; this program reads version 1",
                #"1:29:4 $.defaults.to "to" belongs to a job, not to "defaults""#,
                #"1:39:7 $.limit unknown key "limit"; did you mean "limits"?"#,
                #"2:2:9 $.version unknown key "version""#,
                #"2:1:1 $ "download" or "upload" is missing"#, #"2:1:1 $ "to" is missing"#,
            ])
    }

    @Test func refusesALineWithoutEnd() throws {
        let long = String(repeating: " ", count: JobFileReader.maxLine + 1)
        let reading = try read(
            "\(long)\n{\"download\": \"http://h/\", \"to\": \"a\"}\n", as: .jsonLines, piece: 1 << 20)
        #expect(reading.lines == ["1:1:1 $ a line longer than 16 MiB"])
        #expect(reading.jobs.count == 1)
    }

    @Test func readsADocumentInPieces() throws {
        let text = #"{"version": 1, "jobs": [{"download": "http://h/", "to": "a"}], "defaults": {"priority": 3}}"#
        for format in [JobFileFormat.json, nil] {
            let reading = try read(text, as: format, piece: 5)
            #expect(reading.jobs.map(\.priority) == [3])
        }
    }

    @Test func readsAria2sList() throws {
        let hex = String(repeating: "a", count: 64)
        let text = """
            # a comment
            http://a/x\thttp://b/x
              out=x.iso
              dir=isos/./new
              checksum=sha-256=\(hex)
              header=X-Team: media
              --header=Accept:*/*

            http://a/y
            http://a/z
            \tdir=z
            http://a/w\r
             out=w
            """
        for piece in [nil, 1, 10] {
            let reading = try read(text, as: .urlList, piece: piece)
            #expect(reading.lines == [])
            #expect(reading.jobs.map { $0.download?.destination } == ["isos/new/x.iso", "./", "z/", "w"])
            #expect(reading.jobs.first?.download?.urls == ["http://a/x", "http://b/x"])
            #expect(reading.jobs.first?.download?.checksum == Checksum(.sha256, hex: hex))
            #expect(
                reading.jobs.first?.settings.headers == [
                    .init(name: "X-Team", value: .literal("media")), .init(name: "Accept", value: .literal("*/*")),
                ])
            #expect(reading.locations.first?.to == SourceSpan(line: 4, column: 7, length: 10))
            #expect(reading.locations.map(\.job.line) == [2, 9, 10, 12])
            #expect(reading.locations.first?.path == "")
        }
    }

    @Test(arguments: [
        ("http://h/\n splt=4", #"2:2:4  unsupported option "splt"; did you mean "split"?"#),
        ("http://h/\n uot=4", #"2:2:3  unsupported option "uot"; did you mean "out"?"#),
        (" out=4", "1:2:5  an indented line holds an option, but no URL stands before it"),
        ("http://h/\n out", "2:2:3  an option is written out=VALUE"), ("http://h/\n out=", "2:6:1  the path is empty"),
        ("http://h/\n checksum=md5=1", "2:11:5  md5 has 32 hexadecimal digits, found 1"),
        ("http://h/\n header=x", "2:9:1  a header is written header=NAME: VALUE"),
        (
            "http://h/\tgopher://h/f",
            #"1:11:12  unsupported scheme "gopher"; http, https, s3, ftp, ftps and sftp are supported"#
        ),
    ])
    func reportsTheFaultsOfAList(text: String, fault: String) throws {
        let reading = try read(text + "\nhttp://ok/\n", as: .urlList)
        #expect(reading.lines == [fault])
        #expect(reading.jobs.map { $0.download?.urls } == [["http://ok/"]])
    }

    @Test(
        arguments: [
            ("a.json", .json), ("dir/A.JSONL", .jsonLines), ("a.ndjson", .jsonLines), ("a.csv", .csv), ("-", nil),
            ("a", nil), (".curlrc", .curl), ("a.txt", nil),
        ] as [(String, JobFileFormat?)])
    func recognisesTheFormatByTheName(name: String, format: JobFileFormat?) {
        #expect(JobFileFormat(fileName: name) == format)
    }

    @Test(
        arguments: [
            ("{\n", .json), (" \n{\"version\": 1,\n", .json), ("{\"to\": 1}\n", .jsonLines),
            ("{\"version\": 1}\n{", .jsonLines),
            ("{\"version\": 1, \"jobs\": []}\n", .json), ("[", .json), ("http://h/\n", .urlList), ("# x", nil),
            ("# x\n\n http://h/\n", .urlList), ("http://h/", nil), ("", nil),
            (" \n", nil), ("{\"to\"", nil), ("\u{FEFF}[", .json),
        ] as [(String, JobFileFormat?)])
    func recognisesTheFormatByTheContents(text: String, format: JobFileFormat?) {
        #expect(Array(text.utf8).withUnsafeBytes { JobFileFormat.sniff($0, isWhole: false) } == format)
    }

    @Test(arguments: JobFileFormat.allCases + [nil])
    func handsOutOneBatchForAnEmptyList(format: JobFileFormat?) throws {
        let reading = try read("", as: format)
        #expect(reading.batch == BatchSpec())
        #expect(reading.faults.isEmpty == (format != .json && format != .metalink))
    }

    @Test func passesOnErrorsOfTheSink() throws {
        var reader = JobFileReader(format: .urlList) { _ in [] }
        #expect(throws: NoSuchFile.self) {
            try reader.read(Array("http://h/\n".utf8)) { if case .job = $0 { throw NoSuchFile() } }
        }
    }
}

import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

/// Tables whose header names the keys of jobs.
@Suite struct CSVListTests {
    @Test(arguments: [nil, 1, 9]) func aRowIsAJob(piece: Int?) throws {
        let hex = String(repeating: "a", count: 64)
        let text = """
            url,to,sha256,headers.X-Team,retry.limit,strict,priority\r
            http://h/a,a.bin,\(hex),media,3,true,7\r
            "http://h/b,c","b ""c"".bin",,,,,\r

            http://h/d
            """
        for format in [JobFileFormat.csv, nil] {
            let reading = try read(text, as: format, piece: piece)
            #expect(reading.lines == [])
            #expect(reading.jobs.map { $0.download?.destination } == ["a.bin", "b \"c\".bin", "./"])
            #expect(reading.jobs.map { $0.download?.urls } == [["http://h/a"], ["http://h/b,c"], ["http://h/d"]])
            let first = try #require(reading.jobs.first)
            #expect(first.download?.checksum == Checksum(.sha256, hex: hex) && first.download?.strict == true)
            #expect(first.settings.headers == [.init(name: "X-Team", value: .literal("media"))])
            #expect(first.settings.retry.limit == 3 && first.priority == 7)
            #expect(reading.jobs.last?.settings == JobSettings())
            #expect(reading.locations.map(\.job.line) == [2, 3, 5])
            #expect(reading.locations.first?.to == SourceSpan(line: 2, column: 12, length: 5))
        }
    }

    @Test func mirrorsUploadsAndNamedSecretsHaveColumns() throws {
        let mirrors = try read(
            "id,url,mirror,needs,auth.user,auth.password.env\n7,http://a/x,http://b/x,,me,PW\n8,http://a/y,,7 ,,\n",
            as: .csv)
        #expect(mirrors.lines == [])
        #expect(mirrors.jobs.map { $0.download?.urls } == [["http://a/x", "http://b/x"], ["http://a/y"]])
        #expect(mirrors.jobs.map(\.id) == ["7", "8"] && mirrors.jobs.last?.needs == ["7"])
        #expect(mirrors.jobs.first?.settings.auth == .basic(user: .literal("me"), password: .environment("PW")))
        let uploads = try read("upload,to,headers.Authorization.env\nf.bin,http://h/in/f,TOKEN\n", as: .csv)
        #expect(uploads.lines == [] && uploads.jobs.first?.upload?.source == "f.bin")
        #expect(uploads.jobs.first?.settings.headers == [.init(name: "Authorization", value: .environment("TOKEN"))])
    }

    /// Quotes hold line breaks, and a cell's line and column are those of the file.
    @Test func aCellMayHaveSeveralLines() throws {
        let reading = try read("url,method,body\nhttp://h/a,POST,\"one\ntwo\"\nhttp://h/b,GE T,\n", as: .csv, piece: 5)
        #expect(reading.jobs.first?.download?.body == "one\ntwo")
        #expect(reading.lines == ["4:12:4  not a method, such as \"GET\""])
    }

    @Test(arguments: [
        ("url,to\nnonsense,a\n", ["2:1:8  not a URL; it begins with http://"]),
        (
            "url,to\nhttp://h/a,a,b\n",
            ["2:14:1  a row of 3 cells, and the header has 2; a comma in a cell needs quotes"]
        ),
        ("url,to\nhttp://h/a,\"a\n", ["2:12:1  the quotes are not closed"]),
        ("url,to\nhttp://h/a,\"a\"b\n", ["2:15:1  a comma follows the closing quote"]),
        (
            "url,to\nhttp://h/a,a\"b\"\n",
            ["2:13:1  a cell with a quote in it stands in quotes, and the quote is doubled"]
        ),
        ("url,chekcsum\n", [#"1:5:8  unknown column "chekcsum"; did you mean "checksum"?"#]),
        ("url,filename\n", [#"1:5:8  unknown column "filename"; did you mean "to"?"#]),
        ("url,to,TO\n", [#"1:8:2  two columns are "TO""#]),
        ("url,headers\n", ["1:5:7  \"headers\" has keys of its own: a column is headers.NAME"]),
        ("url,to.x\n", ["1:5:4  \"to\" has no keys of its own"]),
        ("url|to\nhttp://h/a|a\n", ["1:1:6  columns have commas, semicolons or tabs between them"]),
        ("to,id\na,b\n", ["1:1:2  the first line names the columns, and one of them is url (or upload, with to)"]),
        ("url,priority\nhttp://h/a,high\n", ["2:12:4  expected a number, found a string"]),
        ("url,sha256\nhttp://h/a,12\n", ["2:12:2  sha256 has 64 hexadecimal digits, found 2"]),
        ("upload,to\nf,\n", ["2:1:1  \"to\" is missing"]),
    ])
    func aFaultHasItsLineAndColumn(text: String, faults: [String]) throws {
        #expect(try read(text, as: .csv).lines == faults)
    }

    @Test(arguments: [
        ("url,auth.user,auth.password\nhttp://h/a,me,s3cret\n", "auth.password.env has the name"),
        ("url,headers.Authorization\nhttp://h/a,Bearer s3cret\n", "headers.Authorization.env has the name"),
        ("url,to\nhttp://me:s3cret@h/a,a\n", "auth.password.env"),
        ("url,to\n\"http://me:s3cret@h/a,a\n", "are not closed"),
    ])
    func aSecretIsNamed(text: String, way: String) throws {
        let reading = try read(text, as: .csv)
        #expect(reading.lines.count == 1 && reading.lines.first?.contains(way) == true, "\(reading.lines)")
        #expect(!reading.report.rendered(file: "f").contains("s3cret"))
    }

    @Test func unknownColumnsAreIgnored() throws {
        let reading = try read("url,title,year\nhttp://h/a,A film,1999\n", as: .csv)
        #expect(reading.lines == [] && reading.jobs.count == 1)
        #expect(reading.report.warnings == ["2 columns of the CSV were left out: title (line 1), year (line 1)"])
    }

    /// No key lacks a column: each is accepted, or reported as an object with keys of its own.
    @Test(arguments: JobFields.all.table.names) func everyKeyIsAColumn(key: String) {
        do throws(CSVColumn.Refusal) {
            switch try CSVColumn(key) {
            case .source: #expect(key == "download")
            case .key(let path, _): #expect(path == [key])
            case .digest, .leftOut: Issue.record("\(key) is no column")
            }
        } catch {
            #expect(error.message.contains("keys of its own"))
        }
    }
}

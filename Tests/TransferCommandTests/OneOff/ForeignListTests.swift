import Foundation
import Synchronization
import Testing
import TransferTestServer
import TransferTestSupport

/// Lists that were written for curl, wget, aria2 or a table: they yield the right files, and ignored options are
/// reported.
@Suite(.timeLimit(.minutes(1))) struct ForeignListTests {
    private static func curl(_ server: TestServer) -> String {
        """
        # as a script of curl has it
        url = "\(server.url("/a"))"
        output = "one file"
        url = \(server.url("/b"))
        -O
        header = "X-Team: media"
        location
        silent
        write-out = "%{http_code}"
        next
        url = \(server.url("/in/"))
        upload-file = out.bin
        user-agent = me

        """
    }

    @Test(arguments: [
        ["get", "-i", "list"], ["run", "list"], ["get", "-i", "list", "--format", "curl"], ["get", "-"],
    ])
    func aListOfCurlIsFetched(arguments: [String]) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for name in ["a", "b"] { server.serve("/\(name)", .text(name)) }
            let sink = server.acceptUploads("/in/*")
            try place.folder.write("sent", to: "out.bin")
            try place.folder.write(Self.curl(server), to: "list")
            var command = place.command(arguments)
            if arguments.contains("-") { command.standardInput = .data(Data(Self.curl(server).utf8)) }
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.text("one file") == "a" && place.folder.text("b") == "b")
            #expect(sink.uploads.map(\.bytes) == [Array("sent".utf8)])
            #expect(server.requests(to: "/b").first?.headers["X-Team"] == "media")
            #expect(server.requests(to: "/in/out.bin").last?.headers["User-Agent"] == "me")
            let words = "1 option of the curl list was left out: --write-out (line 9)"
            #expect(result.standardError.contains(words), "\(result)")
        }
    }

    /// Every command that reads a list reports the ignored options first, and sends no request.
    @Test(arguments: [
        ["validate", "list"], ["validate", "list", "--format", "curl"], ["run", "-n", "list"],
        ["get", "-n", "-i", "list"],
    ])
    func ignoredOptionsAreReportedBeforeAnyTransfer(arguments: [String]) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try place.folder.write("sent", to: "out.bin")
            try place.folder.write(Self.curl(server), to: "list")
            let result = try await place.command(arguments).run()
            #expect(result.exitCode == 0, "\(result)")
            let words = "list: warning: 1 option of the curl list was left out: --write-out (line 9)\n"
            #expect(result.standardError == words, "\(result)")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func jobsOfCurlComeFromStandardInput() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            var command = place.command(["run", "-", "--name", "piped", "--json"])
            let text =
                "url = \(server.url("/a"))\nmax-filesize = 3\nnext\nurl = nonsense\nnext\nurl = \(server.url("/a"))\noutput = c\n"
            command.standardInput = .data(Data(text.utf8))
            let result = try await command.run()
            #expect(result.exitCode == 1, "the entry in the middle is a failed job: \(result)")
            #expect(try result.events().ends == ["a": "finished", "line 4": "failed", "c": "finished"], "\(result)")
            #expect(result.standardError.contains("--max-filesize (line 2)"), "\(result)")
        }
    }

    @Test func aListOfAria2IsFetchedWithItsOptions() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let content = Content.random(seed: 3, count: 300_000)
            server.serve("/big", content, etag: "\"1\"")
            server.serve("/b", .text("b"))
            let sum = try await digest("sha256", content.bytes())
            try place.folder.write(
                """
                \(server.url("/gone"))\t\(server.url("/big"))
                  out=named.bin
                  dir=in
                  checksum=sha-256=\(sum)
                  user-agent=me
                  split=4
                  max-connection-per-server=2
                  max-tries=2
                  gid=0123456789abcdef
                \(server.url("/b"))
                  dir=in

                """, to: "session.txt")
            let result = try await place.run("run", "session.txt")
            #expect(result.exitCode == 0, "\(result)")
            #expect(try content.firstDifference(fromFileAt: place.folder.path("in/named.bin")) == nil)
            #expect(try place.folder.text("in/b") == "b")
            #expect(server.requests(to: "/big").allSatisfy { $0.headers["User-Agent"] == "me" })
            #expect(server.requests(to: "/b").allSatisfy { $0.headers["User-Agent"] != "me" })
            #expect(result.standardError.contains("1 option of the aria2 list was left out: gid (line 9)"), "\(result)")
        }
    }

    @Test(arguments: [["get", "-i", "films.csv"], ["run", "films.csv"], ["get", "-"]])
    func aTableIsFetched(arguments: [String]) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for name in ["a", "b"] { server.serve("/\(name)", .text(name)) }
            let sum = try await digest("sha256", Array("a".utf8))
            let text = """
                url,to,sha256,title,headers.X-Key.env\r
                \(server.url("/a")),"in/a, b.txt",\(sum),"A ""film"", or so",KEY\r
                \(server.url("/b")),,,,\r
                \(server.url("/b")),,,,\r

                """
            try place.folder.write(text, to: "films.csv")
            var command = place.command(arguments)
            command.environment["KEY"] = "s3cret"
            if arguments.contains("-") { command.standardInput = .data(Data(text.utf8)) }
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.text("in/a, b.txt") == "a" && place.folder.text("b") == "b")
            #expect(server.requests(to: "/a").first?.headers["X-Key"] == "s3cret")
            #expect(server.requests(to: "/b").count == 1, "a row that is there twice is one job")
            #expect(result.standardError.contains("1 column of the CSV was left out: title (line 1)"), "\(result)")
        }
    }

    /// The lists have patterns and forms of curl; uploaded files are searched for where curl searches.
    @Test(arguments: [["get", "-i", "list", "-d", "in"], ["run", "list", "-d", "in"], ["get", "-", "-d", "in"]])
    func patternsAndFormsOfCurlAreTransferred(arguments: [String]) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for name in ["08", "09", "10"] { server.serve("/\(name).jpg", .text(name)) }
            let forms = Mutex<[String]>([])
            server.handle("POST", "/form") { request in
                forms.withLock { $0.append(String(decoding: request.body, as: UTF8.self)) }
                return Response(body: .text("taken"))
            }
            try place.folder.write("sent", to: "out.bin")
            let list = """
                url = "\(server.url("/[08-10].jpg"))"
                output = "p/#1.jpg"
                next
                url = \(server.url("/form"))
                form = "file=@out.bin"
                form = title=x
                next
                url = \(server.url("/form"))
                form = only=y
                output = answer

                """
            try place.folder.write(list, to: "list")
            var command = place.command(arguments)
            if arguments.contains("-") { command.standardInput = .data(Data(list.utf8)) }
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.files(below: "in") == ["answer", "p/08.jpg", "p/09.jpg", "p/10.jpg"])
            #expect(try place.folder.text("in/p/09.jpg") == "09")
            let bodies = forms.withLock { $0.sorted { $0.utf8.count < $1.utf8.count } }
            #expect(bodies.count == 2 && bodies.first?.contains("name=\"only\"\r\n\r\ny\r\n") == true, "\(bodies)")
            #expect(bodies.last?.contains("filename=\"out.bin\"") == true && bodies.last?.contains("sent") == true)
            #expect(bodies.last?.contains("name=\"title\"\r\n\r\nx\r\n") == true)
        }
    }

    /// The format is guessed from the name or the first line, and an option takes precedence.
    @Test func theFormatMayBeDeclared() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for name in ["a", "b"] { server.serve("/\(name)", .text(name)) }
            let text = "\(server.url("/a"))\n  \(server.url("/b"))\n"
            try place.folder.write(text, to: "urls.csv")
            try place.folder.write(text, to: "urls.txt")
            for name in ["urls.csv", "urls.txt"] {
                let guessed = try await place.run("get", "-i", name)
                #expect(guessed.exitCode == 65, "\(guessed)")
                if name == "urls.txt" { #expect(guessed.standardError.contains("--format urls"), "\(guessed)") }
            }
            #expect(server.requests.isEmpty)
            let said = try await place.run("get", "-i", "urls.csv", "--format", "urls")
            #expect(said.exitCode == 0, "\(said)")
            #expect(try place.folder.text("a") == "a" && place.folder.text("b") == "b")
        }
    }

    /// The message has the line, the alternative, and no secret; no other job is fetched.
    @Test(arguments: [
        ("form = a=<f", "list:2:8: error: --form: what a file holds is not read into a list"),
        ("range = 0-9", "list:2:9: error: --range: files are fetched whole"),
        ("user = me:s3cret", "give --user NAME --password '$VARIABLE', or --netrc"),
        ("url = http://me:s3cret@h/", "give --user NAME --password '$VARIABLE', or --netrc"),
        ("user = me", "give --user NAME --password '$VARIABLE', or --netrc"),
        ("header = \"Authorization: Bearer s3cret\"", "give -H 'Authorization: $VARIABLE'"),
        ("cookie = a=s3cret", "give -b '$VARIABLE' or -b FILE"), ("pass = s3cret", "give --key-passphrase '$VARIABLE'"),
        ("proxy-user = me:s3cret", "give --proxy-user NAME --proxy-password '$VARIABLE'"),
    ])
    func anOptionThatChangesTheTransferIsAFault(line: String, fault: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            try place.folder.write("url = \(server.url("/a"))\n\(line)\n", to: "list")
            for arguments in [["get", "-i", "list"], ["run", "list"], ["validate", "list"]] {
                let result = try await place.command(arguments).run()
                #expect(result.exitCode == 65 && result.standardError.contains(fault), "\(result)")
                #expect(!result.standardError.contains("s3cret"))
            }
            #expect(server.requests.isEmpty)
        }
    }

    /// The suggestion for the login can be typed unchanged.
    @Test func anIgnoredUserIsGivenByOptions() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let login = "Basic " + Data("me:s3cret".utf8).base64EncodedString()
            server.handle(nil, "/a") { request in
                request.headers["Authorization"] == login
                    ? Response(body: .text("a"))
                    : Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"r\""], body: .text(""))
            }
            try place.folder.write("url = \(server.url("/a"))\n", to: "list")
            var command = place.command(["get", "-i", "list", "--user", "me", "--password", "$PW"])
            command.environment["PW"] = "s3cret"
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.text("a") == "a")
        }
    }

    /// curl's option has the name of one of ours.
    @Test func aListOfCurlIsNoConfiguration() async throws {
        let place = try Workplace()
        let path = try place.folder.write("# mine\nurl = http://h/a\n", to: "list")
        let result = try await place.run("get", "--config", "list", "http://h/b")
        #expect(result.exitCode == 64, "\(result)")
        #expect(result.standardError.contains("transfer get -i \(path) --format curl"), "\(result)")
    }

    @Test func aWebPageIsNoList() async throws {
        let place = try Workplace()
        try place.folder.write("<!DOCTYPE html>\n<a href=\"http://h/a\">a</a>\n", to: "page.html")
        let result = try await place.run("get", "-i", "page.html")
        #expect(
            result.exitCode == 65
                && result.standardError.contains("page.html:1:1: error: a web page, no Metalink and no list"),
            "\(result)")
    }
}

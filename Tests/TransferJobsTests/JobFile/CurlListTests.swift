import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

/// The file that `curl --config` reads, as a list of jobs.
@Suite struct CurlListTests {
    private static let url = "url = http://h/f\n"

    private static func job(_ lines: String) throws -> JobSpec {
        let reading = try read(url + lines, as: .curl)
        #expect(reading.lines == [])
        return try #require(reading.jobs.first)
    }

    /// The arguments are each way to write a line (curl's manual, `-K`).
    @Test(arguments: [
        ("output = f.bin", "f.bin"), ("output=f.bin", "f.bin"), ("output: f.bin", "f.bin"), ("output f.bin", "f.bin"),
        ("--output f.bin", "f.bin"), ("--output=f.bin", "f.bin"), ("-o f.bin", "f.bin"), ("-of.bin", "f.bin"),
        ("  output\t=\tf.bin  # a comment", "f.bin"), ("output = \"a b.bin\"", "a b.bin"),
        (#"output = "a \"b\" \\ c.bin" # x"#, #"a "b" \ c.bin"#), (#"output = "a\tb""#, "a\tb"),
        ("-sSLo f.bin", "f.bin"),
        ("output = f.bin\r", "f.bin"), ("output = \"{name}.bin\"", "{name}.bin"),
        ("output-dir = d\noutput = f.bin", "d/f.bin"), ("output-dir = d/\nremote-name", "d/"), ("remote-name", "./"),
        ("-O", "./"), ("", "./"),
    ])
    func aLineIsWrittenInManyWays(line: String, destination: String) throws {
        #expect(try Self.job(line).download?.destination == destination)
    }

    private static let mapped: [(String, @Sendable (JobSpec) -> Bool)] = [
        ("header = \"X-A: 1\"", { $0.settings.headers == [.init(name: "X-A", value: .literal("1"))] }),
        ("header = \"X-A;\"", { $0.settings.headers == [.init(name: "X-A", value: .literal(""))] }),
        (
            "header = \"Accept: a\"\nheader = \"accept: b\"",
            { $0.settings.headers == [.init(name: "Accept", value: .literal("a, b"))] }
        ),
        ("header = \"Expect:\"", { $0.settings.headers.isEmpty }),
        ("user-agent = \"me 1\"", { $0.settings.headers == [.init(name: "User-Agent", value: .literal("me 1"))] }),
        (
            "referer = \"http://r/;auto\"",
            { $0.settings.headers == [.init(name: "Referer", value: .literal("http://r/"))] }
        ),
        ("cookie = jar.txt", { $0.settings.http.cookies == "jar.txt" }),
        ("proxy = p:3128\nnoproxy = a,b", { $0.settings.proxy == .init(url: "http://p:3128", noProxy: "a,b") }),
        ("socks5-hostname = p:1080", { $0.settings.proxy?.url == "socks5h://p:1080" }),
        ("noproxy = a,b", { $0.settings.proxy == .environment(except: "a,b") }),
        ("proxy = \"\"", { $0.settings.proxy?.url == "" }),
        (
            "cacert = ca.pem\ncert = c.pem\nkey = k.pem",
            { $0.settings.tls.ca == "ca.pem" && $0.settings.tls.cert == "c.pem" && $0.settings.tls.key == "k.pem" }
        ),
        ("compressed", { $0.download?.compressed == true }),
        ("insecure", { $0.settings.tls.insecure }), ("no-insecure", { !$0.settings.tls.insecure }),
        (
            "pinnedpubkey = \"sha256//\(String(repeating: "a", count: 43))=\"",
            { $0.settings.tls.pins == ["sha256/\(String(repeating: "a", count: 43))="] }
        ),
        ("http1.1", { $0.settings.http.version == .one }),
        ("limit-rate = 100k", { $0.settings.limitRate == 102_400 }),
        ("limit-rate = 0", { $0.settings.limitRate == nil }),
        (
            "retry = 3\nretry-delay = 2",
            {
                $0.settings.retry.limit == 3 && $0.settings.retry.scale == .seconds(2)
                    && $0.settings.retry.maxDelay == .seconds(2)
            }
        ),
        ("connect-timeout = 2.5", { $0.settings.connectTimeout == .milliseconds(2500) }),
        ("max-time = 60", { $0.settings.maxTime == .seconds(60) }), ("max-time = 0", { $0.settings.maxTime == nil }),
        (
            "speed-limit = 1000\nspeed-time = 15",
            { $0.settings.lowSpeed == .init(rate: 1000, time: .seconds(15)) }
        ),
        ("max-redirs = 3", { $0.settings.maxRedirects == 3 }), ("max-redirs = -1", { $0.settings.maxRedirects == 100 }),
        ("interface = if!eth0", { $0.settings.network.require != nil }),
        ("netrc", { $0.settings.auth == .netrc() }), ("netrc-file = n", { $0.settings.auth == .netrc(file: "n") }),
        ("netrc\nuser = me", { $0.settings.auth == .netrc(user: .literal("me")) }),
        ("request = POST", { $0.download?.method == "POST" }),
        (
            "data = a=b\ndata = c=d",
            {
                $0.download?.body == "a=b&c=d" && $0.download?.method == "POST"
                    && $0.settings.headers == [
                        .init(name: "Content-Type", value: .literal("application/x-www-form-urlencoded"))
                    ]
            }
        ),
        ("data-urlencode = \"q=a b&c\"", { $0.download?.body == "q=a%20b%26c" }),
        ("request = PUT\ndata-raw = @x", { $0.download?.body == "@x" && $0.download?.method == "PUT" }),
        (
            #"json = "{\"a\": 1}""#,
            { $0.download?.body == #"{"a": 1}"# && $0.settings.headers.contains { $0.name == "Accept" } }
        ),
        ("get\ndata = a=b", { $0.download?.urls == ["http://h/f?a=b"] && $0.download?.body == nil }),
        ("clobber", { $0.download?.ifExists == .overwrite }), ("no-clobber", { $0.download?.ifExists == .rename }),
        ("skip-existing", { $0.download?.ifExists == .skip }),
        ("ftp-port = -", { $0.settings.ftp?.active == true }),
        ("ssl-reqd", { $0.settings.ftp?.requireTLS == true }),
    ]

    @Test(arguments: mapped.indices) func anOptionIsAKey(index: Int) throws {
        let (lines, holds) = Self.mapped[index]
        let reading = try read(Self.url + lines + "\n", as: .curl)
        #expect(reading.lines == [] && reading.report.leftOut.isEmpty, "\(lines)")
        let job = try #require(reading.jobs.first)
        #expect(holds(job), "\(lines): \(reading.jobs)")
    }

    @Test func anOptionWithoutEffectIsAcceptedSilently() throws {
        let reading = try read(
            Self.url
                + "location\nfail\n-sS\nremote-time\ncreate-dirs\nparallel\n--no-progress-meter\ncontinue-at = -\nhttp2\n",
            as: .curl)
        #expect(reading.lines == [] && reading.report.warnings == [])
        #expect(reading.jobs.map(\.settings) == [JobSettings()])
    }

    /// The order is curl's: the first output belongs to the first URL.
    @Test func transfersHaveTheirOutputsAndTheOptionsUpToTheNext() throws {
        let reading = try read(
            """
            # two of one kind
            url = http://h/a
            output = one
            url = http://h/b
            output = two
            user-agent = first
            next
            url = http://h/c
            remote-name
            """, as: .curl)
        #expect(reading.lines == [])
        #expect(reading.jobs.map { $0.download?.destination } == ["one", "two", "./"])
        #expect(reading.jobs.map { $0.settings.headers.count } == [1, 1, 0])
        #expect(reading.locations.map(\.job.line) == [2, 4, 8])
        #expect(reading.locations.map(\.to.line) == [3, 5, 9])
    }

    @Test func aFileIsUploaded() throws {
        let reading = try read(
            "upload-file = out/a b.bin\nurl = http://h/in/\n".replacing("out/a b.bin", with: "\"out/a b.bin\"")
                + "next\n-T x\nurl = sftp://h/x\nuser = \"me:\"\nkey = id\n", as: .curl)
        #expect(reading.lines == [])
        #expect(reading.jobs.map { $0.upload?.url } == ["http://h/in/a%20b.bin", "sftp://h/x"])
        #expect(reading.jobs.first?.upload?.source == "out/a b.bin")
        #expect(reading.jobs.last?.settings.ssh?.user == "me" && reading.jobs.last?.settings.ssh?.key == "id")
    }

    @Test(arguments: [
        ("form = a=@f,g", "2:8:6  --form: one file goes with each entry"),
        ("form = a=@f\nform = b=@g", "3:8:4  --form: one file goes with each entry"),
        ("form = a=<f", "2:8:4  --form: what a file holds is not read"),
        ("form = a", "2:8:1  --form: a part of a form is"),
        ("form = \"a=@f;filename=g\"", "2:8:17  --form: a file is sent by its own name"),
        ("form = a=1\nform-string = a=2", "3:15:3  --form-string: two parts of a form have the name \"a\""),
        ("form = a=@-", "2:8:4  --form: a list sends files"),
        ("form = a=@", "2:8:3  --form: the file's path is missing"),
        ("form = \"a=(x\"", "2:8:6  --form: parts within parts"),
        ("form = a=1\ndata = x", "3:8:1  a request sends a form or data, not both"),
        ("form = a=1\nupload-file = f", "3:15:1  an upload sends its file, and no form"),
        ("range = 0-99", "2:9:4  --range: files are fetched whole"),
        ("head", "2:1:4  --head: a list only moves files"), ("-I", "2:1:2  --head: a list only moves files"),
        ("request = HEAD", "2:11:4  --request: a list only moves files"),
        ("data = @file", "2:8:5  --data: what a file holds is not read"),
        ("data-urlencode = n@file", "2:18:6  --data-urlencode: what a file holds"),
        ("resolve = h:80:127.0.0.1", "2:11:14  --resolve: names are resolved"),
        ("quote = \"DELE x\"", "2:9:8  --quote: a list only moves files"),
        ("continue-at = 100", "2:15:3  --continue-at=100: where a file continues"),
        ("capath = d", "2:10:1  --capath: cacert FILE"), ("socks4 = p", "2:10:1  --socks4: SOCKS 5"),
        ("interface = 10.0.0.1", "2:13:8  --interface: a link is named"),
        ("config = c", "2:10:1  --config: lists are not nested"),
        ("output = -", "2:10:1  standard output gets the file of one URL: transfer get -o - URL"),
        ("output = a b", "2:12:1  a value with a blank in it stands in double quotes"),
        ("output = \"a", "2:10:2  the double quotes are not closed"), ("output", "2:1:6  --output takes a value"),
        ("location = true", "2:12:4  --location takes no value"), ("retry = x", "2:9:1  --retry: not a whole number"),
        ("ouput = x", #"2:1:5  curl has no option "ouput"; did you mean "output"?"#),
        ("output = x\noutput = y", "3:10:1  no url goes with this output"),
        ("http://h/g", "2:1:4  a URL is written url = \"URL\""),
        ("url = nonsense", "2:7:8  not a URL; it begins with http://"),
        ("url = \"http://h/[9-1].jpg\"", "2:7:20  a range is written [1-100]"),
        ("url = \"http://h/{a,b\"", "2:7:15  the braces are not closed"),
        ("header = nonsense", "2:10:8  a header is written \"NAME: VALUE\""),
        ("header = \"Content-Length: 3\"", "2:10:19  Content-Length says where a body ends"),
        ("max-time = soon", "2:12:4  not a duration"), ("next\noutput = x", "3:10:1  no url goes with these options"),
        ("expand-url = x", "2:1:10  variables are not read: write url with the value"),
        ("upload-file = f\ndata = x", "3:8:1  an upload sends its file, and no data"),
        ("upload-file = -", "2:15:1  a list sends files; `transfer put - URL`"),
    ])
    func anOptionThatChangesTheTransferIsAFault(lines: String, fault: String) throws {
        let reading = try read(Self.url + lines + "\n", as: .curl)
        #expect(reading.lines.first?.hasPrefix(fault) == true && reading.lines.count == 1, "\(reading.lines)")
    }

    /// A secret is neither read from a list nor repeated in a message. The command names the option for the secret, and
    /// the library says that it has to be set.
    @Test(arguments: [
        ("user = me:s3cret", "a password is named"), ("user = me", "which is named, never written"),
        ("-u me:s3cret", "a password is named"), ("url = http://me:s3cret@h/", "set it for the job"),
        ("header = \"Authorization: Bearer s3cret\"", "a secret is named"),
        ("header = \"X-Api-Key: s3cret\"", "a secret is named"), ("cookie = a=s3cret", "a cookie is named"),
        ("oauth2-bearer = s3cret", "a secret is named"), ("proxy = http://me:s3cret@p:1", "a proxy's login is named"),
        ("proxy-user = me:s3cret", "a proxy's login is named"), ("cert = c.pem:s3cret", "a passphrase is named"),
        ("pass = s3cret", "a passphrase is named"), ("uesr = me:s3cret", "did you mean \"user\""),
        ("user = \"me:s3cret", "are not closed"), ("user = me:s3cret and more", "stands in double quotes"),
    ])
    func aSecretIsNamed(line: String, way: String) throws {
        let reading = try read(Self.url + line + "\n", as: .curl)
        #expect(reading.lines.count == 1 && reading.lines.first?.contains(way) == true, "\(reading.lines)")
        #expect(!reading.report.rendered(file: "f").contains("s3cret"))
    }

    @Test func ignoredOptionsAreReportedInOneLine() throws {
        let reading = try read(
            Self.url + "write-out = x\nfoo-bar = 1\nmax-filesize = 3\nwrite-out = y\nno-digest\nheader = \"Accept:\"\n",
            as: .curl)
        #expect(reading.lines == [] && reading.jobs.count == 1)
        #expect(
            reading.report.warnings == [
                "4 options of the curl list were left out: --write-out (2 times, first in line 2), --foo-bar (line 3), "
                    + "--max-filesize (line 4), --header (line 7)"
            ])
    }

    @Test func bracketsAreLiteralWithoutGlobbing() throws {
        let reading = try read("globoff\nurl = \"http://[::1]/[1].jpg\"\n", as: .curl)
        #expect(reading.lines == [] && reading.jobs.first?.download?.urls == ["http://[::1]/[1].jpg"])
        #expect(try read("url = \"http://[::1]/1.jpg\"\n", as: .curl).lines == [])
    }

    @Test func aPatternMakesAJobOfEachOfItsURLs() throws {
        let reading = try read(
            """
            url = "http://{a,b}/[08-10].jpg"
            output = "#1/{n}_#2_#3.jpg"
            user-agent = me
            url = http://h/last
            output = "#1"
            """, as: .curl)
        #expect(reading.lines == [])
        #expect(
            reading.jobs.compactMap { $0.download?.urls.first } == [
                "http://a/08.jpg", "http://a/09.jpg", "http://a/10.jpg", "http://b/08.jpg", "http://b/09.jpg",
                "http://b/10.jpg", "http://h/last",
            ])
        #expect(
            reading.jobs.compactMap { $0.download?.destination } == [
                "a/{n}_08_#3.jpg", "a/{n}_09_#3.jpg", "a/{n}_10_#3.jpg", "b/{n}_08_#3.jpg", "b/{n}_09_#3.jpg",
                "b/{n}_10_#3.jpg", "#1",
            ])
        #expect(reading.jobs.allSatisfy { $0.settings.headers.count == 1 })
        #expect(reading.locations.map(\.job.line) == [1, 1, 1, 1, 1, 1, 4])
    }

    @Test func filesOfAPatternGoToTheirURLsEach() throws {
        let reading = try read(
            "upload-file = \"{a,b}.bin\"\nurl = \"http://h/[1-2]/\"\noutput = answer\n", as: .curl)
        #expect(reading.lines == [])
        #expect(
            reading.jobs.compactMap { $0.upload?.url } == [
                "http://h/1/a.bin", "http://h/1/b.bin", "http://h/2/a.bin", "http://h/2/b.bin",
            ])
        #expect(reading.report.warnings == ["1 option of the curl list was left out: --output (line 3)"])
        let literal = try read("globoff\nupload-file = \"{a}\"\nurl = http://h/\n", as: .curl)
        #expect(literal.lines == [] && literal.jobs.first?.upload?.source == "{a}")
    }

    @Test func aFormWithAFileIsAnUpload() throws {
        let reading = try read(
            Self.url
                + #"""
                form = "title=a b ;type=text/plain"
                form-string = "note=@not; a file"
                form = "doc=@\"my, file.bin\";filename=\"my, file.bin\";type=image/png"
                header = "X-A: 1"

                """#, as: .curl)
        #expect(reading.lines == [])
        let upload = try #require(reading.jobs.first?.upload)
        #expect(upload.source == "my, file.bin" && upload.url == "http://h/f" && upload.uploadProtocol == .multipart)
        #expect(upload.options.fileField == "doc")
        #expect(
            upload.options.fields.map { "\($0.name)=\($0.value)" } == [
                "title=\(SecretText.literal("a b"))", "note=\(SecretText.literal("@not; a file"))",
            ])
        #expect(reading.jobs.first?.settings.headers.count == 1)
        #expect(
            reading.report.warnings == [
                "1 option of the curl list was left out: --form ;type (2 times, first in line 2)"
            ])
    }

    @Test func aFormWithoutAFileIsAPost() throws {
        let download = try Self.job("form = \"a\\\"b=1\"\nform = c=2\n").download
        #expect(download?.method == "POST" && download?.destination == "./")
        #expect(
            download?.body == "--transfer-form\r\nContent-Disposition: form-data; name=\"a%22b\"\r\n\r\n1\r\n"
                + "--transfer-form\r\nContent-Disposition: form-data; name=\"c\"\r\n\r\n2\r\n--transfer-form--\r\n")
        let types = try Self.job("form = a=1\nform-string = \"b=x transfer-form y\"\n").settings.headers
        #expect(
            types == [.init(name: "Content-Type", value: .literal("multipart/form-data; boundary=transfer-form-x"))])
    }

    /// The rule is curl's: the folder for downloads has no effect on it.
    @Test(arguments: ["/work", nil], ["a.bin", "../a.bin", "/abs/a.bin"])
    func anUploadStartsFromTheWorkingFolder(_ folder: String?, _ path: String) throws {
        var found: [JobSpec] = []
        var reader = JobFileReader(format: .curl, directory: "/files", workingFolder: folder) { _ in [] }
        let report = try reader.read(Array("url = http://h/\nupload-file = \(path)\n".utf8)) {
            if case .job(let spec, _) = $0 { found.append(spec) }
        }
        #expect(report.isEmpty)
        let isRelative = !path.hasPrefix("/") && folder != nil
        #expect(found.first?.upload?.source == (isRelative ? "/work/" + path : path))
    }

    @Test func namesAndLettersAreOneOptionEach() {
        let names = CurlOptions.all.map(\.name)
        #expect(Set(names).count == names.count)
        let letters = CurlOptions.all.compactMap(\.letter)
        #expect(Set(letters).count == letters.count)
    }

    @Test(arguments: [1, 7, 64]) func aListArrivesInPiecesOfAnySize(piece: Int) throws {
        let text = "# mine\n\nurl = http://h/a\noutput = \"a b\"\nnext\nurl = http://h/b\nlocation"
        for format in [JobFileFormat.curl, nil] {
            let reading = try read(text, as: format, piece: piece)
            #expect(reading.lines == [] && reading.jobs.map { $0.download?.destination } == ["a b", "./"])
        }
    }

    @Test(arguments: [
        ("url = \"http://h/\"\n", JobFileFormat.curl), ("# x\n\n--url http://h/\n", .curl), ("location\n", .curl),
        ("-o f\n", .curl), ("user-agent: me\n", .curl), ("no-progress-meter\n", .curl), ("url,to\n", .csv),
        ("\"url\",\"to\"\n", .csv), ("url\n", .csv), ("id, URL ,to\r\n", .csv), ("url;to\n", .csv),
        ("http://h/\n", .urlList),
        ("http://h/a,url\n", .urlList), ("nonsense\n", .urlList), ("# only\n", .urlList), ("urls\n", .urlList),
    ])
    func aListIsRecognisedByItsFirstLine(text: String, format: JobFileFormat) {
        #expect(Array(text.utf8).withUnsafeBytes { JobFileFormat.sniff($0, isWhole: true) } == format)
    }
}

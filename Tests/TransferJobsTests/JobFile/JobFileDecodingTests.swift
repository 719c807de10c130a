import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

@Suite struct JobFileDecodingTests {
    private static let hex = String(repeating: "ab", count: 32)

    @Test func readsEveryKeyOfADownload() throws {
        let reading = try read(
            """
            {
              "$schema": "./transfer-jobs.schema.json", "version": 1, "name": "nightly", "x-note": {"a": [1, null]},
              "limits": {"concurrency": 50, "perHost": "auto", "limitRate": "50M", "requestRate": "100/m"},
              "jobs": [{
                "id": "iso", "download": ["https://a.example/x", "https://b.example/x"], "to": "./isos//x.iso",
                "checksum": "sha256:\(Self.hex)", "segments": 4, "priority": -10, "ifExists": "update",
                "needs": ["a", "./b//c", "https://h/in"], "method": "POST", "body": "q=\\u00e9\\ud83d\\ude00\\n",
                "headers": {"X-Team": "media", "Authorization": {"env": "TOKEN"}, "Cookie": {"file": "c"}},
                "retry": {"limit": 3, "base": 3, "scale": "250ms", "maxDelay": 90, "maxWait": "2h", "jitter": false,
                          "statusCodes": [503, 500], "methods": ["POST"]},
                "connectTimeout": "5s", "timeout": 1.5, "lowSpeed": {"rate": "1K", "time": "10s"}, "maxTime": "1h30m",
                "limitRate": "2M", "proxy": "socks5h://p:1080", "noProxy": "localhost,10.0.0.0/8",
                "tls": {"ca": "ca.pem", "cert": "c.pem", "key": "k.pem",
                        "pins": ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]},
                "auth": {"user": "ann", "password": {"credential": "pw"}}, "remoteTime": false, "maxRedirects": 0,
                "x-owner": "me"
              }]
            }
            """)
        #expect(reading.lines == [])
        #expect(reading.batch?.name == "nightly")
        #expect(
            reading.batch?.limits
                == BatchLimits(concurrency: 50, perHost: .automatic, limitRate: 50 << 20, requestRate: 100.0 / 60))
        let job = try #require(reading.jobs.first)
        #expect(job.id == "iso")
        #expect(job.priority == -10)
        #expect(job.needs == ["a", "b/c", "https://h/in"])
        #expect(
            job.download
                == JobSpec.Download(
                    urls: ["https://a.example/x", "https://b.example/x"], destination: "isos/x.iso",
                    checksum: Checksum(.sha256, hex: Self.hex), ifExists: .update, method: "POST", body: "q=é😀\n",
                    remoteTime: false,
                    segments: .exactly(4)))
        let settings = job.settings
        #expect(settings.headers.map(\.name) == ["X-Team", "Authorization", "Cookie"])
        #expect(settings.headers.map(\.value) == [.literal("media"), .environment("TOKEN"), .file("c")])
        #expect(settings.retry.limit == 3 && settings.retry.base == 3 && settings.retry.jitter == false)
        #expect(settings.retry.scale == .milliseconds(250) && settings.retry.maxDelay == .seconds(90))
        #expect(settings.retry.maxWait == .seconds(7200))
        #expect(settings.retry.statusCodes == [500, 503] && settings.retry.methods == ["POST"])
        #expect(settings.connectTimeout == .seconds(5) && settings.timeout == .milliseconds(1500))
        #expect(settings.lowSpeed == .init(rate: 1024, time: .seconds(10)))
        #expect(settings.maxTime == .seconds(5400) && settings.limitRate == 2 << 20 && settings.maxRedirects == 0)
        #expect(settings.proxy == .init(url: "socks5h://p:1080", noProxy: "localhost,10.0.0.0/8"))
        #expect(settings.tls.ca == "ca.pem" && settings.tls.cert == "c.pem" && settings.tls.key == "k.pem")
        #expect(settings.tls.pins.count == 1)
        #expect(settings.auth == .basic(user: .literal("ann"), password: .credential("pw")))
    }

    @Test func readsAnUpload() throws {
        let reading = try read(
            """
            {"version": 1, "jobs": [{"upload": "out/r.pdf", "to": "HTTPS://files.example/in", "protocol": "post",
             "method": "PATCH", "auth": {"netrc": true}}]}
            """)
        #expect(reading.lines == [])
        #expect(
            reading.jobs.first?.upload
                == .init(source: "out/r.pdf", url: "HTTPS://files.example/in", uploadProtocol: .post, method: "PATCH"))
        #expect(reading.jobs.first?.settings.auth == .netrc())
    }

    @Test func leavesMissingKeysAtTheirDefaults() throws {
        let reading = try readJob("")
        #expect(reading.batch == BatchSpec())
        #expect(reading.jobs == [JobSpec(work: .download(.init(urls: ["http://h/f"], destination: "f")))])
    }

    @Test(arguments: [true, false])
    func mergesDefaultsWhereverTheyStand(defaultsFirst: Bool) throws {
        let defaults = """
            "defaults": {"retry": {"limit": 4, "scale": "2s"}, "headers": {"X-Team": "a", "Accept": "x/y"}, "priority": 5,
              "lowSpeed": {"rate": 10}, "proxy": "http://p", "noProxy": "a", "segments": 3, "ifExists": "skip",
              "remoteTime": false, "limitRate": "1M", "auth": {"netrc": true}, "protocol": "post"}
            """
        let jobs = """
            "jobs": [
              {"download": "http://h/1", "to": "1", "retry": {"limit": 9}, "headers": {"x-team": "b", "X-New": "c"},
               "lowSpeed": {"time": "5s"}, "noProxy": "b", "limitRate": 0, "auth": {"netrc": false}},
              {"upload": "f", "to": "http://h/2"}]
            """
        let members = defaultsFirst ? [defaults, jobs] : [jobs, defaults]
        let reading = try read("{\"version\": 1, \(members.joined(separator: ",\n"))}")
        #expect(reading.lines == [])
        let job = try #require(reading.jobs.first)
        #expect(job.settings.retry.limit == 9 && job.settings.retry.scale == .seconds(2))
        #expect(job.settings.headers.map(\.name) == ["x-team", "Accept", "X-New"])
        #expect(job.settings.headers.first?.value == .literal("b"))
        #expect(job.settings.lowSpeed == .init(rate: 10, time: .seconds(5)))
        #expect(job.settings.proxy == .init(url: "http://p", noProxy: "b"))
        #expect(job.settings.limitRate == nil && job.settings.auth == nil && job.priority == 5)
        #expect(
            job.download?.segments == .exactly(3) && job.download?.ifExists == .skip
                && job.download?.remoteTime == false)
        let upload = try #require(reading.jobs.last)
        #expect(upload.upload?.uploadProtocol == .post)
        #expect(upload.settings.proxy == .init(url: "http://p", noProxy: "a") && upload.settings.auth == .netrc())
    }

    @Test(arguments: [
        ("a/b", "a/b"), ("./a//b/../c", "a/c"), ("../x", "../x"), ("a/../../x", "../x"), ("/a/./b/", "/a/b/"),
        (".", "./"),
        ("a/..", "./"), ("..", "../"), ("/", "/"), ("/..", "/"), ("a/.", "a/"), ("a//", "a/"), (".hidden", ".hidden"),
        ("a/.hidden", "a/.hidden"), ("//a", "/a"), ("...", "..."),
    ])
    func normalizesDestinations(path: String, normal: String) throws {
        #expect(DestinationPath.normalized(path) == normal)
        #expect(DestinationPath.normalized(normal) == normal)
    }

    @Test func takesChecksumsFromAList() throws {
        let sha = (0..<4).map { String(repeating: "\($0)", count: 64) }
        let md5 = String(repeating: "9", count: 32)
        let list = """
            # comment
            \(md5)  x.iso
            \(sha[0])  ./isos/x.iso
            \(sha[1]) *y.iso
            SHA256 (z (1).iso) = \(sha[2])
            \\\(sha[3])  back\\\\slash
            not a line
            """
        let reading = try read(
            """
            {"version": 1, "defaults": {"checksums": "SUMS"}, "jobs": [
              {"download": "http://h/1", "to": "isos/x.iso"}, {"download": "http://h/2", "to": "deep/isos/x.iso"},
              {"download": "http://h/3", "to": "other/y.iso"}, {"download": "http://h/4", "to": "z (1).iso"},
              {"download": "http://h/5", "to": "back\\\\slash"}, {"download": "http://h/6", "to": "x.iso"},
              {"download": "http://h/y.iso?q", "to": "in/"}, {"download": "http://h/8", "to": "unlisted", "checksums": false},
              {"download": "http://h/9", "to": "y.iso", "checksum": "md5:\(md5)"}]}
            """, files: ["SUMS": list])
        #expect(reading.lines == [])
        #expect(
            reading.jobs.map { $0.download?.checksum?.hex } == [
                sha[0], sha[0], sha[1], sha[2], sha[3], md5, sha[1], nil, md5,
            ])
    }

    @Test func locatesJobsAndTheirParts() throws {
        let reading = try read(
            """
            {"version": 1, "jobs": [
              {"id": "é", "download": "http://h/f", "to": "f"}, {"download": "http://h/g",
                "to": "g",
                "needs": ["é", "f"]}]}
            """)
        #expect(reading.locations.map(\.path) == ["$.jobs[0]", "$.jobs[1]"])
        #expect(reading.locations[0].id == SourceSpan(line: 2, column: 10, length: 3))
        #expect(reading.locations[0].to == SourceSpan(line: 2, column: 47, length: 3))
        #expect(reading.locations[1].job == SourceSpan(line: 2, column: 53, length: 1))
        #expect(reading.locations[1].to == SourceSpan(line: 3, column: 11, length: 3))
        #expect(
            reading.locations[1].needs == [
                .init(line: 4, column: 15, length: 3), .init(line: 4, column: 20, length: 3),
            ])
        let fault = reading.locations[1].destinationFault("same destination as job \"é\" (line 2)")
        #expect(
            fault.rendered(file: "j.json")
                == "j.json:3:11: error: same destination as job \"é\" (line 2)\n  $.jobs[1].to\n")
        #expect(reading.locations[1].needFault("no such job", at: 1).path == "$.jobs[1].needs[1]")
    }
}

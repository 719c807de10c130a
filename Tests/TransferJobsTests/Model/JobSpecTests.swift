import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

@Suite struct JobSpecTests {
    let job = Sample.download("https://h.example/x.iso", to: "isos/x.iso")

    func changed(_ change: (inout JobSpec) -> Void) -> JobSpec {
        var spec = job
        change(&spec)
        return spec
    }

    func changedDownload(_ change: (inout JobSpec.Download) -> Void) -> JobSpec {
        changed { spec in
            guard case .download(var download) = spec.work else { return }
            change(&download)
            spec.work = .download(download)
        }
    }

    @Test func theIdentityIsTheIDElseTheDestination() {
        #expect(changed { $0.id = "iso" }.identity == "iso")
        #expect(job.identity == "isos/x.iso")
        #expect(Sample.download("https://h.example/a/b.bin?sig=1", to: "d/").identity == "d/b.bin")
        #expect(Sample.download("https://h.example/b.bin", to: "./").identity == "b.bin")
        #expect(Sample.download("https://h.example/", to: "d/").identity == "d/index.html")
        #expect(Sample.upload("a", to: "https://u:p@h.example/in?sig=1").identity == "https://h.example/in?sig=***")
    }

    @Test func theFingerprintChangesWithTheResult() {
        let other = [
            changedDownload { $0.urls[0] += "2" }, changedDownload { $0.urls.append("https://m.example/x.iso") },
            changedDownload { $0.destination = "y" },
            changedDownload { $0.checksum = Checksum(.md5, hex: String(repeating: "a", count: 32)) },
            changedDownload { $0.method = "POST" }, changedDownload { $0.body = "q" },
            changed { $0.settings.headers = [.init(name: "Accept", value: .literal("text/html"))] },
            changed { $0.work = .upload(.init(source: "isos/x.iso", url: "https://h.example/x.iso")) },
        ]
        #expect(Set((other + [job]).map(\.fingerprint)).count == other.count + 1)
    }

    @Test func theFingerprintIgnoresPatienceAndSignatures() {
        let same = [
            changed { $0.settings.retry.limit = 3 }, changed { $0.settings.limitRate = 1 }, changed { $0.priority = 4 },
            changed { $0.settings.timeout = .seconds(1) },
            // No complete job is fetched again because the network rules have changed.
            changed { $0.settings.network = .unmetered },
            // The route and the credentials do not change the bytes.
            changed {
                $0.settings.proxy = .init(
                    url: "http://p", credentials: .init(user: .literal("a"), password: .environment("P")))
            },
            changed { $0.settings.tls.keyPassphrase = .environment("P") },
        ]
        for spec in same { #expect(spec.fingerprint == job.fingerprint) }
        let signed = { (text: String) in
            Sample.download("https://h.example/x?X-Amz-Signature=\(text)", to: "x").fingerprint
        }
        #expect(signed("abc") == signed("def"))
        let plain = { (text: String) in Sample.download("https://h.example/x?id=\(text)", to: "x").fingerprint }
        #expect(plain("abc") != plain("def"))
    }

    @Test func theFingerprintSeparatesFields() {
        let first = changedDownload {
            $0.method = "ab"
            $0.body = "c"
        }
        let second = changedDownload {
            $0.method = "a"
            $0.body = "bc"
        }
        #expect(first.fingerprint != second.fingerprint)
    }

    @Test func theFingerprintIsTheSameInEveryProcess() {
        // Swift's own hashes are seeded anew in each process; this one is stored in databases.
        #expect(Sample.download("https://h.example/x", to: "x").fingerprint == 4_423_376_132_307_479_947)
    }

    @Test func redactionTakesOutUserinfoAndSignaturesAndRestores() throws {
        let spec = Sample.download("https://u:hunter2@h.example/x?sig=hunter3&v=1", to: "x")
        #expect(spec.redacted.urls == ["https://h.example/x?sig=***&v=1"])
        #expect(!"\(spec.redacted)".contains("hunter"))
        let secrets = try #require(JobSecrets(spec))
        #expect(secrets.restore(spec.redacted) == spec)
        #expect(JobSecrets(job) == nil)
        #expect(job.redacted == job)
    }

    @Test func redactionTakesOutPasswordsThatAProgramWroteOut() throws {
        let spec = changed {
            $0.settings.proxy = .init(
                url: "http://p", credentials: .init(user: .literal("ann"), password: .literal("hunter2")))
            $0.settings.tls.cert = "c"
            $0.settings.tls.keyPassphrase = .literal("hunter3")
        }
        #expect(!"\(spec.redacted)".contains("hunter") && !spec.redacted.canonicalJSON.contains("hunter"))
        #expect(spec.redacted.settings.proxy?.credentials?.user == .literal("ann"))
        let secrets = try #require(JobSecrets(spec))
        #expect(secrets.restore(spec.redacted) == spec)
        let named = changed {
            $0.settings.proxy = .init(
                url: "http://p", credentials: .init(user: .credential("u"), password: .credential("p")))
            $0.settings.tls.keyPassphrase = .credential("k")
        }
        #expect(JobSecrets(named) == nil && named.redacted == named)
        #expect(named.settings.credentialNames == ["u", "p", "k"])
    }

    @Test func targetsAreAbsolute() {
        #expect(DownloadTarget("a/b", directory: "/d").path == "/d/a/b")
        #expect(DownloadTarget("./a", directory: "/d").path == "/d/a")
        #expect(DownloadTarget("/a", directory: "/d").path == "/a")
        let folder = DownloadTarget("sub/", directory: "/d")
        #expect(folder.isFolder)
        #expect(folder.file(url: "https://h.example/q/n.bin?x=1", disposition: nil) == "/d/sub/n.bin")
        #expect(
            folder.file(url: "https://h.example/q", disposition: "attachment; filename=\"../../etc/passwd\"").hasPrefix(
                "/d/sub/"))
        #expect(
            !folder.file(url: "https://h.example/q", disposition: "attachment; filename=\"../../etc/passwd\"").contains(
                ".."))
        #expect(
            DownloadTarget("f", directory: "/d").file(url: "https://h.example/q", disposition: "attachment; filename=z")
                == "/d/f")
    }

    @Test func retriesHaveTheDocumentedDefaults() {
        let rule = RetrySettings().rule
        #expect(rule.limit == 10 && rule.base == 2 && rule.scale == 1 && rule.maxDelay == 60 && rule.jitter)
        #expect(rule.statusCodes == nil, "by class")
        #expect(rule.methods == ["DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"])
        #expect(rule.honoursRetryAfter && rule.maxWait == 86_400)
    }

    @Test func retrySettingsReplaceTheDefaults() {
        var settings = RetrySettings()
        settings.limit = 3
        settings.base = 5
        settings.scale = .milliseconds(250)
        settings.maxDelay = .seconds(9)
        settings.maxWait = .seconds(99)
        settings.jitter = false
        settings.statusCodes = [418]
        settings.methods = ["POST"]
        let rule = settings.rule
        #expect(
            rule
                == RetryRule(
                    limit: 3, base: 5, scale: 0.25, maxDelay: 9, jitter: false, maxWait: 99, methods: ["POST"],
                    statusCodes: [418]))
        settings.base = 0
        #expect(settings.rule.base == 2, "delays that do not grow are no backoff")
    }

    @Test func jobsSubmittedByAProgramAreChecked() {
        #expect(JobRule.faults(of: job).isEmpty)
        #expect(!JobRule.faults(of: Sample.download("gopher://h.example/x", to: "x")).isEmpty)
        #expect(JobRule.faults(of: Sample.download("sftp://h.example/x", to: "x")).isEmpty)
        #expect(JobRule.faults(of: Sample.upload("f", to: "ftps://h.example/x", protocol: .ftp)).isEmpty)
        #expect(
            JobRule.faults(of: Sample.upload("f", to: "sftp://h.example/x")) == [
                "a URL of sftp:// goes with the protocol \"sftp\""
            ])
        #expect(
            JobRule.faults(of: Sample.upload("f", to: "https://h.example/x", protocol: .sftp)) == [
                "the protocol \"sftp\" has URLs as sftp://host/path"
            ])
        #expect(!JobRule.faults(of: Sample.download("https://h.example/x", to: "")).isEmpty)
        #expect(!JobRule.faults(of: Sample.download("https://h.example/x", to: "a\0b")).isEmpty)
        #expect(!JobRule.faults(of: Sample.upload("a\0b", to: "https://h.example/x")).isEmpty)
        for id in ["", "a\0b", "a/b", "a\nb"] {
            #expect(
                !JobRule.faults(of: Sample.download("https://h.example/x", to: "x", id: id)).isEmpty,
                "\(id.debugDescription)")
        }
        #expect(!JobRule.faults(of: changedDownload { $0.urls = [] }).isEmpty)
        let faults = JobRule.faults(of: Sample.download("gopher://u:hunter2@h.example/x", to: "x"))
        #expect(!faults.isEmpty && faults.allSatisfy { !$0.contains("hunter2") })
    }
}

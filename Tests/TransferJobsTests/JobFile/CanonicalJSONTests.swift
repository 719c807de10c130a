import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

@Suite struct CanonicalJSONTests {
    @Test func writesNothingThatIsADefault() throws {
        let spec = JobSpec(work: .download(.init(urls: ["http://h/\"é\n"], destination: "a")))
        #expect(spec.canonicalJSON == #"{"download":"http://h/\"é\u000a","to":"a"}"#)
        #expect(try JobSpec(canonicalJSON: spec.canonicalJSON) == spec)
    }

    @Test func returnsTheSameJob() throws {
        var random = SplitMix64(state: 1)
        for _ in 0..<3000 {
            let spec = JobSpec.random(&random)
            let text = spec.canonicalJSON
            #expect(try JobSpec(canonicalJSON: text) == spec)
            #expect(try JobSpec(canonicalJSON: text).canonicalJSON == text)
            var bytes = Array("x".utf8)
            spec.appendCanonicalJSON(to: &bytes)
            #expect(bytes == Array("x\(text)".utf8))
        }
    }

    @Test func returnsTheSameCopy() throws {
        var random = SplitMix64(state: 2)
        for number in 0..<1000 {
            let (one, other) = (JobSpec.random(&random), JobSpec.random(&random))
            let download = JobSpec.Download(
                urls: ["http://a.example/\(number)", "ftp://b.example/x"], destination: "", method: one.id, body: one.id
            )
            var upload = JobSpec.Upload(
                from: CopySource(download, settings: one.settings.with(rulesOfJob: other.settings)),
                url: "s3://bucket/\(number)", uploadProtocol: .s3)
            upload.options.chunkSize = Int64(number)
            let spec = JobSpec(
                id: other.id, work: .upload(upload), needs: other.needs, priority: other.priority,
                settings: other.settings)
            let text = spec.canonicalJSON
            let again = try JobSpec(canonicalJSON: text)
            #expect(again == spec && again.fingerprint == spec.fingerprint)
            #expect(again.canonicalJSON == text)
        }
    }

    @Test func keepsTheRulesOfAFrontThatNoJobFileMayHave() throws {
        var spec = JobSpec(work: .download(.init(urls: ["http://h/f"], destination: "a")))
        spec.settings.headers = [
            .init(name: "X", value: .literal("1")), .init(name: "X", value: .literal("2")),
        ]
        let plain = spec.fingerprint
        spec.settings.http.front.suggestsType = false
        spec.settings.http.front.takesSame = false
        spec.settings.http.front.numbersLast = true
        spec.settings.http.front.keepsLonger = true
        #expect(try JobSpec(canonicalJSON: spec.canonicalJSON) == spec)
        #expect(spec.fingerprint == plain)
        let text = #"{"download":"http://h/f","to":"a","front":{"keepsMethod":true,"keepsPost":[301,302]}}"#
        #expect(try JobSpec(canonicalJSON: text).canonicalJSON == text)
        #expect(!JobFields.all.table.names.contains("front"))
    }

    @Test(arguments: ["", "{", "[]", "{}", #"{"download":1,"to":"a"}"#, #"{"download":"u","to":"a"} x"#])
    func refusesInvalidJobs(text: String) {
        #expect(throws: JobFileFault.self) { try JobSpec(canonicalJSON: text) }
    }
}

extension JobSpec {
    fileprivate static func random(_ generator: inout SplitMix64) -> JobSpec {
        func maybe<Value>(_ value: (inout SplitMix64) -> Value) -> Value? {
            Bool.random(using: &generator) ? value(&generator) : nil
        }
        func text(_ generator: inout SplitMix64) -> String {
            let alphabet: [Character] = [
                "a", "Z", "0", "/", "\"", "\\", "\n", "\u{0}", "é", "日", "😀", " ", ":", "{", "\u{7F}",
            ]
            return String(
                (0..<Int.random(in: 0...12, using: &generator)).compactMap { _ in
                    alphabet.randomElement(using: &generator)
                })
        }
        func texts(_ generator: inout SplitMix64) -> [String] {
            (0..<Int.random(in: 0...3, using: &generator)).map { _ in text(&generator) }
        }
        func number(_ generator: inout SplitMix64) -> Int {
            [0, 1, -1, Int.max, Int.min, Int.random(in: -1000...1000, using: &generator)].randomElement(
                using: &generator) ?? 0
        }
        func duration(_ generator: inout SplitMix64) -> Duration {
            Duration(
                secondsComponent: .random(in: 0...1_000_000, using: &generator),
                attosecondsComponent: [
                    0, 1, 500_000_000_000_000_000, .random(in: 0..<1_000_000_000_000_000_000, using: &generator),
                ].randomElement(using: &generator) ?? 0)
        }
        func secret(_ generator: inout SplitMix64) -> SecretText {
            let value = text(&generator)
            return [.literal(value), .environment(value), .file(value), .credential(value)].randomElement(
                using: &generator)
                ?? .literal("")
        }
        var settings = JobSettings()
        settings.headers = texts(&generator).map { .init(name: $0, value: secret(&generator)) }
        settings.retry.limit = maybe(number)
        settings.retry.base = maybe(number)
        settings.retry.scale = maybe(duration)
        settings.retry.maxDelay = maybe(duration)
        settings.retry.maxWait = maybe(duration)
        settings.retry.jitter = maybe { Bool.random(using: &$0) }
        settings.retry.statusCodes = maybe { generator in
            Set((0..<3).map { _ in number(&generator) }.dropFirst(Int.random(in: 0...3, using: &generator)))
        }
        settings.retry.methods = maybe { Set(texts(&$0)) }
        settings.connectTimeout = maybe(duration)
        settings.timeout = maybe(duration)
        settings.lowSpeed = maybe { .init(rate: Int64(number(&$0)), time: duration(&$0)) }
        settings.maxTime = maybe(duration)
        settings.limitRate = maybe { Int64(number(&$0)) }
        settings.proxy = maybe { generator in
            if Bool.random(using: &generator) { return .environment(except: text(&generator)) }
            return .init(
                url: text(&generator), noProxy: Bool.random(using: &generator) ? text(&generator) : nil,
                credentials: Bool.random(using: &generator)
                    ? .init(user: secret(&generator), password: secret(&generator)) : nil)
        }
        settings.tls.ca = maybe(text)
        settings.tls.cert = maybe(text)
        settings.tls.key = maybe(text)
        settings.tls.keyPassphrase = maybe(secret)
        settings.tls.pins = texts(&generator)
        settings.auth = maybe {
            switch Int.random(in: 0..<3, using: &$0) {
            case 0:
                .netrc(
                    user: Bool.random(using: &$0) ? secret(&$0) : nil,
                    file: Bool.random(using: &$0) ? text(&$0) : nil)
            case 1: .bearer(secret(&$0))
            default: .basic(user: secret(&$0), password: secret(&$0))
            }
        }
        settings.maxRedirects = maybe(number)
        settings.network = .random(&generator, text: text, duration: duration)
        let digest = Checksum(.md5, hex: String(repeating: "0f", count: 16))
        let work: Work =
            Bool.random(using: &generator)
            ? .download(
                Download(
                    urls: texts(&generator), destination: text(&generator), checksum: maybe { _ in digest } ?? nil,
                    pieces: maybe { _ in digest.flatMap { PieceDigests(length: 1 << 20, digests: [$0, $0]) } } ?? nil,
                    ifExists: IfExists.allCases.randomElement(using: &generator) ?? .fail, method: maybe(text),
                    body: maybe(text), remoteTime: Bool.random(using: &generator),
                    segments: Bool.random(using: &generator) ? .automatic : .exactly(number(&generator)),
                    adopt: Adopt.allCases.randomElement(using: &generator) ?? .never,
                    strict: Bool.random(using: &generator)))
            : .upload(
                Upload(
                    source: text(&generator), url: text(&generator),
                    uploadProtocol: UploadProtocol.allCases.randomElement(using: &generator) ?? .put,
                    method: maybe(text)))
        return JobSpec(
            id: maybe(text), work: work, needs: texts(&generator), priority: number(&generator), settings: settings)
    }
}

extension NetworkPolicy {
    fileprivate static func random(
        _ generator: inout SplitMix64, text: (inout SplitMix64) -> String, duration: (inout SplitMix64) -> Duration
    ) -> NetworkPolicy {
        func maybe<Value>(_ value: (inout SplitMix64) -> Value) -> Value? {
            Bool.random(using: &generator) ? value(&generator) : nil
        }
        func pattern(_ generator: inout SplitMix64) -> LinkPattern {
            let words = LinkClass.words.map(\.rawValue) + ["vpn", "name:", "name:name:"]
            let name = text(&generator)
            return [
                .vpn, .name(name), LinkPattern(name), .name(words.randomElement(using: &generator) ?? ""),
                .kind(LinkClass.words.randomElement(using: &generator) ?? .wifi),
            ].randomElement(using: &generator) ?? .vpn
        }
        func patterns(_ generator: inout SplitMix64) -> [LinkPattern] {
            (0..<Int.random(in: 0...2, using: &generator)).map { _ in pattern(&generator) }
        }
        func window(_ generator: inout SplitMix64) -> Schedule.Window? {
            Schedule.Window(
                weekdays: Set((0..<7).filter { _ in Bool.random(using: &generator) }),
                start: .random(in: 0..<1440, using: &generator), end: .random(in: 0...1440, using: &generator))
        }
        var policy = NetworkPolicy()
        policy.allow = patterns(&generator)
        policy.avoid = patterns(&generator)
        policy.prefer = patterns(&generator)
        policy.require = maybe(pattern)
        policy.metered = maybe { Metered.allCases.randomElement(using: &$0) ?? .allow }
        policy.meteredAfter = maybe(duration)
        policy.meteredBudget = maybe {
            MeteredBudget(
                bytes: .random(in: 1...1 << 50, using: &$0),
                per: MeteredBudget.Period.allCases.randomElement(using: &$0) ?? .day)
        }
        policy.schedule = Schedule(
            (0..<Int.random(in: 0...2, using: &generator)).compactMap { _ in window(&generator) })
        return policy
    }
}

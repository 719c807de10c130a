import Testing
import TransferQueue

@testable import TransferServer

/// The rules of aria2's interface that need no service.
@Suite struct AriaRulesTests {
    @Test(arguments: [
        ("http://h.example/a b", "http://h.example/a%20b", nil),
        ("http://h.example/a?q=\"<é>\"#f g", "http://h.example/a?q=%22%3Cé%3E%22#f%20g", nil),
        ("http://h.example/a%20b", "http://h.example/a%20b", nil),
        ("http://u:p@h.example/a", "http://h.example/a", AriaURL.Login(user: "u", password: "p")),
        ("ftp://u%40x:p%3A@h.example/a@b", "ftp://h.example/a@b", AriaURL.Login(user: "u@x", password: "p:")),
        ("https://u@h.example", "https://h.example", AriaURL.Login(user: "u", password: "")),
    ])
    func aURLIsReadWithItsLogin(text: String, url: String, login: AriaURL.Login?) throws {
        let read = try #require(AriaURL(text))
        #expect(read.url == url && read.login == login)
    }

    @Test(arguments: ["", "nothing", "magnet:?xt=urn:btih:0", " http://h.example/a", "http://h example/a", "file:///a"])
    func aTextThatIsNoSourceIsNoURL(_ text: String) {
        #expect(AriaURL(text) == nil)
    }

    @Test func aNumberStandsBeforeTheExtension() {
        #expect(AriaNames.path("/d/a.tar.gz", 0) == "/d/a.tar.gz")
        #expect(AriaNames.path("/d/a.tar.gz", 1) == "/d/a.tar.1.gz")
        #expect(AriaNames.path("/d.x/a", 2) == "/d.x/a.2" && AriaNames.path("/d/.a", 3) == "/d/.a.3")
    }

    /// A thousand names are taken: the search asks about few of them, and the next call about one.
    @Test func aFreeNumberIsFoundInFewQuestions() async {
        for taken in [0, 1, 2, 3, 7, 100, 1000] {
            var questions = 0
            let names = AriaNames()
            let free = await names.number("/d/a") { number in
                questions += 1
                return number <= taken
            }
            #expect(free == taken + 1 && questions <= 24, "\(taken): \(questions)")
            names.take("/d/a", free)
            questions = 0
            let next = await names.number("/d/a") { number in
                questions += 1
                return number <= free
            }
            #expect(next == free + 1 && questions == 1)
        }
    }

    /// The treatment of a file by the state of the earlier job and the option for existing files.
    @Test func anEarlierJobGivesItsNameBackOnceItsFileIsGone() {
        let rules: [(JobState, JobSpec.IfExists, Bool, AriaPlacement)] = [
            (.queued, .rename, false, .number), (.claimed, .overwrite, true, .number), (.paused, .fail, false, .refuse),
            (.failed, .rename, true, .again), (.cancelled, .fail, true, .again), (.skipped, .overwrite, false, .again),
            (.done, .rename, true, .number), (.done, .rename, false, .again), (.done, .fail, true, .refuse),
            (.done, .fail, false, .again), (.done, .overwrite, true, .again), (.done, .update, true, .again),
        ]
        for (state, rule, exists, placement) in rules {
            #expect(AriaPlacement(state, rule, fileExists: exists) == placement, "\(state) \(rule) \(exists)")
        }
    }

    @Test func theOptionsForExistingFilesMeanWhatTheyMeanInAria2() {
        #expect(AriaPlacement.rule([:], .verify) == .rename)
        #expect(AriaPlacement.rule(["allow-overwrite": "true"], .verify) == .overwrite)
        #expect(AriaPlacement.rule(["auto-file-renaming": "false"], .verify) == .fail)
        let both = ["auto-file-renaming": "false", "allow-overwrite": "true"]
        #expect(AriaPlacement.rule(both, .verify) == .overwrite && AriaPlacement.rule(both, .update) == .update)
    }

    @Test(arguments: [
        ("pause", "yes"), ("allow-overwrite", "1"), ("split", "0"), ("max-connection-per-server", "17"),
        ("timeout", "601"), ("retry-wait", "x"), ("max-tries", "-1"),
    ])
    func aValueOutOfRangeIsRefusedByItsOption(name: String, value: String) {
        let error = #expect(throws: AriaError.self) { try AriaOptionRule.check(["dir": "/d", name: value]) }
        #expect(error?.message.contains("'--\(name)'") == true)
    }

    @Test func valuesInRangeAndOtherOptionsAreAccepted() throws {
        try AriaOptionRule.check([
            "pause": "true", "split": "64", "max-connection-per-server": "16", "timeout": "600", "retry-wait": "0",
            "max-tries": "0", "no-such-option": "x",
        ])
    }

    @Test func urlsAreTakenOutAndPutIn() {
        let urls = ["http://h.example/1", "http://h.example/2"]
        let change = AriaURIs.changed(
            urls, removing: [urls[1], "http://h.example/9"], adding: ["http://h.example/3 4", "nothing"], at: nil)
        #expect(change.urls == [urls[0], "http://h.example/3%204"] && change.removed == 1 && change.added == 1)
        let first = AriaURIs.changed(urls, removing: [], adding: ["ftp://h.example/5"], at: 0)
        #expect(first.urls == ["ftp://h.example/5"] + urls && first.removed == 0)
        let last = AriaURIs.changed(urls, removing: urls, adding: ["ftp://h.example/5"], at: 7)
        #expect(last.urls == ["ftp://h.example/5"] && last.removed == 2)
    }

    @Test func optionsThatKeepTheContentAreChanged() throws {
        var options = ["max-download-limit": "10K", "split": "8", "max-connection-per-server": "4", "out": "x"]
        let change = try AriaChange(taking: &options)
        #expect(options == ["out": "x"] && !change.isEmpty && change.isOfSealed)
        var spec = JobSpec.download("http://h.example/a", to: "a")
        let fingerprint = spec.fingerprint
        change.make(&spec)
        guard case .download(let download) = spec.work else { return #expect(Bool(false), "a download") }
        #expect(download.segments == .exactly(4) && spec.settings.limitRate == 10_240)
        var more = ["max-tries": "3", "max-download-limit": "0"]
        let other = try AriaChange(taking: &more)
        other.make(&spec)
        #expect(spec.settings.retry.limit == 2 && spec.settings.limitRate == nil && !other.isOfSealed)
        #expect(spec.fingerprint == fingerprint)
        var none: [String: String] = [:]
        #expect(try AriaChange(taking: &none).isEmpty)
    }
}

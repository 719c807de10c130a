import Testing
import TransferCore

@testable import TransferEngine

/// The mapping from an HTTP request to steps with a file server, without a server.
@Suite("The rules of file servers") struct FileServerRuleTests {
    typealias Dialogue = FileServerDialogue

    func url(_ text: String = "ftp://files.example/a/b") throws -> FileServerURL { try FileServerURL(text) }

    func dialogue(
        _ method: String, _ headers: [HeaderField] = [], url text: String = "ftp://files.example/a/b"
    ) throws -> (Dialogue, Dialogue.Step) {
        var dialogue = try Dialogue(url: url(text), method: method, headers: headers)
        let step = dialogue.start()
        return (dialogue, step)
    }

    func step(_ action: Dialogue.Action) -> Dialogue.Step? {
        if case .perform(let step) = action { return step }
        return nil
    }

    func head(_ action: Dialogue.Action) -> ResponseHead? {
        if case .answer(let head) = action { return head }
        return nil
    }

    func error(_ action: Dialogue.Action) -> TransferError? {
        if case .fail(let error) = action { return error }
        return nil
    }

    static let file = RemoteFile(size: 100, modified: 1_000_000_000)
    private static let etag = "\"100-1000000000\""
    private static let range = [HeaderField("Range", "bytes=40-"), HeaderField("If-Range", etag)]

    // MARK: URLs

    @Test(arguments: [
        ("ftp://h/a/b", "a/b", "ftp://h:21/a/b"), ("ftp://h/%2Fa", "/a", "ftp://h:21/%2Fa"),
        ("ftps://H:2121/x y?z;type=b#f", "x y?z;type=b", "ftps://h:2121/x%20y%3Fz%3Btype%3Db"),
        ("sftp://h/a%2520b", "/a%20b", "sftp://h:22/a%2520b"), ("sftp://h/~/x", "/~/x", "sftp://h:22/~/x"),
        ("sftp://h/~bob/x", "/~bob/x", "sftp://h:22/./~bob/x"), ("sftp://[::1]:23/x", "/x", "sftp://[::1]:23/x"),
        ("ftp://h", "", "ftp://h:21/"), ("ftp://h/%E4", "\u{FFFD}", "ftp://h:21/%E4"),
    ])
    func pathsAreSpeltUnambiguously(_ text: String, _ path: String, _ spelt: String) throws {
        let url = try url(text)
        #expect(String(decoding: url.path, as: UTF8.self) == path && url.text == spelt)
        let again = try FileServerURL(url.text.replacing("./~", with: "~"))
        #expect(again.path == url.path && again.origin == url.origin)
    }

    @Test(arguments: ["http://h/x", "ftp:///x", "ftp://h:0/x", "ftp://h/a%0D%0ADELE%20b", "sftp://h/a%00", "file:///x"])
    func anUnsendablePathIsRefused(_ text: String) { #expect(throws: TransferError.self) { try url(text) } }

    @Test func namesInCommandsAreQuotedForSFTPAndPlainForFTP() throws {
        #expect(try url("sftp://h/a%22b%5Cc%20d").commandPath() == "\"/a\\\"b\\\\c d\"")
        #expect(try url("sftp://h/~/x").commandPath() == "\"x\"")
        #expect(try url("ftp://h/a%20b").commandPath() == "a b")
        #expect(try url("sftp://h/a/b/c").folders() == ["\"/a\"", "\"/a/b\"", "\"/a/b/c\""])
        #expect(try url("sftp://h/~/a/b").folders() == ["\"a\"", "\"a/b\""])
        let latin = try url("ftp://h/%E4")
        #expect(throws: TransferError.self) { try latin.commandPath() }
    }

    @Test func onlyFileServersUseTheirLoopsAndOriginsStayApart() {
        for url in ["ftp://h/", "FTPS://h/", "sftp://h"] { #expect(FileServerURL.isMeant(by: url)) }
        for url in ["http://h/", "HTTPS://h/", ""] { #expect(!FileServerURL.isMeant(by: url)) }
        #expect(Origin(url: "ftp://h/") == nil && Origin(fileServerURL: "http://h/") == nil)
        let origin = Origin(fileServerURL: "sftp://h:22/x")
        #expect(origin?.isDefaultPort == true && origin?.description == "sftp://h")
        #expect(Origin(fileServerURL: "ftps://h/")?.port == 990 && Origin(fileServerURL: "ftp://h/")?.port == 21)
    }

    // MARK: Downloads

    @Test func aLookUpAnswersHEAD() throws {
        var (dialogue, first) = try dialogue("HEAD")
        #expect(first == .look(try url()))
        let answer = head(dialogue.ended(.done(Self.file), sent: 0, madeFolder: false))
        #expect(answer?.status == 200 && answer?.contentLength == 100 && answer?.value("ETag") == Self.etag)
        #expect(answer?.value("Last-Modified") == "Sun, 09 Sep 2001 01:46:40 GMT")
    }

    @Test(arguments: [RemoteFile(size: 5, modified: nil), RemoteFile(size: nil, modified: 7)])
    func withoutBothThereIsNoEntityTag(_ file: RemoteFile) throws {
        var (dialogue, _) = try dialogue("HEAD")
        let answer = head(dialogue.ended(.done(file), sent: 0, madeFolder: false))
        #expect(answer?.value("ETag") == nil && answer?.contentLength == file.size)
    }

    @Test func aWholeFileComesInOneStep() throws {
        var (dialogue, first) = try dialogue("GET", [HeaderField("Range", "bytes=0-9")])
        #expect(first == .fetch(from: 0))
        guard case .deliver(let answer) = dialogue.bodyBegins(Self.file) else { throw TestFailure() }
        #expect(answer.status == 200 && answer.contentLength == 100 && answer.value("ETag") == Self.etag)
        guard case .finish = dialogue.ended(.done(Self.file), sent: 0, madeFolder: false) else { throw TestFailure() }
    }

    @Test func anEmptyFileIsAnAnswerWithoutABody() throws {
        var (dialogue, _) = try dialogue("GET")
        let answer = head(dialogue.ended(.done(RemoteFile(size: nil, modified: 9)), sent: 0, madeFolder: false))
        #expect(answer?.status == 200 && answer?.contentLength == 0)
    }

    /// Rows: the size that SIZE or STAT declared, and the requested offset; no byte came.
    @Test(arguments: [(100, 0, true), (nil, 0, false), (0, 0, false)] as [(Int64?, Int64, Bool)])
    func anEmptyDownloadOfANonEmptyFileIsAFault(_ size: Int64?, _ offset: Int64, _ isFault: Bool) throws {
        var (dialogue, _) = try dialogue("GET")
        let action = dialogue.ended(.done(RemoteFile(size: size, modified: 9)), sent: 0, madeFolder: false)
        #expect((error(action) != nil) == isFault && (head(action) != nil) == !isFault)
        #expect(error(action)?.isTransient != false)
    }

    @Test func anEmptyRestIsALostConnection() throws {
        var (dialogue, _) = try dialogue("GET", Self.range)
        _ = dialogue.ended(.done(Self.file), sent: 0, madeFolder: false)
        let action = dialogue.ended(.done(Self.file), sent: 0, madeFolder: false)
        #expect(error(action)?.code == .connectionLost)
    }

    /// RFC 9110 §13.2.2: the date is ignored if there is a tag.
    @Test(arguments: [
        ([HeaderField("If-None-Match", etag)], true), ([HeaderField("If-None-Match", "\"100-7\"")], false),
        ([HeaderField("If-Modified-Since", "Sun, 09 Sep 2001 01:46:40 GMT")], true),
        ([HeaderField("If-Modified-Since", "Sun, 09 Sep 2001 01:46:39 GMT")], false),
        (
            [
                HeaderField("If-None-Match", "\"100-7\""),
                HeaderField("If-Modified-Since", "Sun, 09 Sep 2001 01:46:40 GMT"),
            ], false
        ),
    ])
    func anUnchangedFileIsNotFetched(_ fields: [HeaderField], _ isKnown: Bool) throws {
        var (dialogue, first) = try dialogue("GET", fields)
        #expect(first == .look(try url()))
        let action = dialogue.ended(.done(Self.file), sent: 0, madeFolder: false)
        if isKnown {
            let answer = head(action)
            #expect(answer?.status == 304 && answer?.value("ETag") == Self.etag)
        } else {
            #expect(step(action) == .fetch(from: 0))
        }
    }

    @Test func aChangeBeforeDuringOrAfterAResumeIsFound() throws {
        var (dialogue, first) = try dialogue("GET", Self.range)
        #expect(first == .look(try url()))
        #expect(step(dialogue.ended(.done(Self.file), sent: 0, madeFolder: false)) == .fetch(from: 40))
        guard case .deliver(let answer) = dialogue.bodyBegins(Self.file) else { throw TestFailure() }
        #expect(answer.status == 206 && answer.value("Content-Range") == "bytes 40-99/100")
        #expect(answer.contentLength == 60)
        #expect(step(dialogue.ended(.done(Self.file), sent: 0, madeFolder: false)) == .look(try url()))
        guard case .finish = dialogue.ended(.done(Self.file), sent: 0, madeFolder: false) else { throw TestFailure() }
    }

    @Test(arguments: [RemoteFile(size: 100, modified: 1_000_000_001), RemoteFile(size: 101, modified: 1_000_000_000)])
    func anotherFileNeverContinuesThisOne(_ other: RemoteFile) throws {
        // The file changed before the request: the whole file is sent.
        var (dialogue, _) = try dialogue("GET", Self.range)
        #expect(step(dialogue.ended(.done(other), sent: 0, madeFolder: false)) == .fetch(from: 0))
        guard case .deliver(let answer) = dialogue.bodyBegins(other) else { throw TestFailure() }
        #expect(answer.status == 200)
        // The file changed between the look-up and the fetch.
        (dialogue, _) = try self.dialogue("GET", Self.range)
        _ = dialogue.ended(.done(Self.file), sent: 0, madeFolder: false)
        guard case .stop(let stopped) = dialogue.bodyBegins(other) else { throw TestFailure() }
        #expect(stopped.code == .changedDuringTransfer && stopped.isTransient)
        // The file changed during the fetch.
        (dialogue, _) = try self.dialogue("GET", Self.range)
        _ = dialogue.ended(.done(Self.file), sent: 0, madeFolder: false)
        _ = dialogue.bodyBegins(Self.file)
        _ = dialogue.ended(.done(Self.file), sent: 0, madeFolder: false)
        let late = error(dialogue.ended(.done(other), sent: 0, madeFolder: false))
        #expect(late?.code == .changedDuringTransfer)
    }

    @Test func aServerWithoutTimesDoesNotResume() throws {
        var (dialogue, _) = try dialogue("GET", Self.range)
        #expect(step(dialogue.ended(.done(RemoteFile(size: 100)), sent: 0, madeFolder: false)) == .fetch(from: 0))
    }

    @Test(arguments: [40, 30] as [Int64]) func aCompleteFileHasNoRest(_ size: Int64) throws {
        let file = RemoteFile(size: size, modified: 5)
        let range = [HeaderField("Range", "bytes=40-"), HeaderField("If-Range", file.etag ?? "")]
        var (dialogue, _) = try dialogue("GET", range)
        let answer = head(dialogue.ended(.done(file), sent: 0, madeFolder: false))
        #expect(answer?.status == 416 && answer?.value("Content-Range") == "bytes */\(size)")
    }

    @Test func aServerWithoutRestartsSendsTheWhole() throws {
        var (dialogue, _) = try dialogue("GET", Self.range)
        _ = dialogue.ended(.done(Self.file), sent: 0, madeFolder: false)
        #expect(step(dialogue.ended(.failed(.noRestart), sent: 0, madeFolder: false)) == .fetch(from: 0))
        guard case .deliver(let answer) = dialogue.bodyBegins(Self.file) else { throw TestFailure() }
        #expect(answer.status == 200)
    }

    /// 350 to REST is no promise (RFC 959 §4.1.3): the refusal of RETR may be that of the restart.
    @Test(arguments: [
        FileServerFailure.missing("550 no"), .denied("550 no"), .ambiguous("550 no"),
        .error(TransferError(.badResponse, "554 no")),
    ])
    func aRestartRefusedAtTheFileSendsTheWhole(_ failure: FileServerFailure) throws {
        var (dialogue, _) = try dialogue("GET", Self.range)
        _ = dialogue.ended(.done(Self.file), sent: 0, madeFolder: false)
        let next = dialogue.ended(.failed(failure), sent: 0, madeFolder: false, refusedFile: true)
        #expect(step(next) == .fetch(from: 0))
        // The refusal of the whole file is final.
        let last = dialogue.ended(.failed(failure), sent: 0, madeFolder: false, refusedFile: true)
        #expect(step(last) == nil)
    }

    @Test func aBusyServerKeepsTheReceivedBytes() throws {
        var (dialogue, _) = try dialogue("GET", Self.range)
        _ = dialogue.ended(.done(Self.file), sent: 0, madeFolder: false)
        let busy = FileServerFailure.error(TransferError(.badResponse, "451 later", isTransient: true))
        let end = dialogue.ended(.failed(busy), sent: 0, madeFolder: false, refusedFile: true)
        #expect(step(end) == nil && error(end)?.isTransient == true)
    }

    @Test(
        arguments: ["HEAD", "GET", "DELETE"], [(FileServerFailure.missing("550 no"), 404), (.denied("550 no"), 403)])
    func missingAndForbiddenFilesHaveAStatus(_ method: String, _ failure: (FileServerFailure, Int)) throws {
        var (dialogue, _) = try dialogue(method)
        var action = dialogue.ended(.failed(failure.0), sent: 0, madeFolder: false)
        // The refusal may have been an answer to SIZE.
        if method == "GET" {
            #expect(step(action) == .fetchUnmeasured)
            action = dialogue.ended(.failed(failure.0), sent: 0, madeFolder: false)
        }
        let answer = head(action)
        #expect(answer?.status == failure.1 && answer?.value("Server-Reply") == "550 no")
    }

    @Test func aFileRefusedAfterItsSizeIsNotRequestedAgain() throws {
        var (dialogue, _) = try dialogue("GET")
        let answer = head(
            dialogue.ended(.failed(.ambiguous("550 no")), sent: 0, madeFolder: false, refusedFile: true))
        #expect(answer?.status == 403 && answer?.value("Server-Reply") == "550 no")
    }

    /// A refused look-up is no answer to the request. Each row has the kind of server, the purpose and the next step.
    @Test(
        arguments: [
            ("ftp", "GET", FileServerFailure.ambiguous("550 no"), Dialogue.Step.fetchUnmeasured, nil),
            ("ftp", "GET", .denied("550 no"), .fetchUnmeasured, nil),
            ("ftp", "GET", .missing("550 no"), .fetchUnmeasured, nil), ("sftp", "GET", .denied("no"), nil, 403),
            ("sftp", "GET", .missing("no"), nil, 404), ("ftp", "HEAD", .ambiguous("550 no"), nil, 403),
            ("ftp", "HEAD", .missing("550 no"), nil, 404), ("ftp", "PATCH", .ambiguous("550 no"), nil, 403),
            ("sftp", "PATCH", .denied("no"), nil, 403), ("sftp", "PATCH", .missing("no"), nil, 409),
            ("ftp", "GET", .error(TransferError(.connectionLost, "lost", isTransient: true)), nil, nil),
        ] as [(String, String, FileServerFailure, Dialogue.Step?, Int?)])
    func aRefusedLookUpIsNoAnswer(
        _ scheme: String, _ method: String, _ failure: FileServerFailure, _ next: Dialogue.Step?, _ status: Int?
    ) throws {
        for fields in [Self.range, [HeaderField("If-None-Match", Self.etag)]] {
            let fields = method == "PATCH" ? [HeaderField("Upload-Offset", "5")] : method == "GET" ? fields : []
            var (dialogue, _) = try dialogue(method, fields, url: "\(scheme)://h/x")
            let action = dialogue.ended(.failed(failure), sent: 0, madeFolder: false)
            #expect(step(action) == next && head(action)?.status == status)
        }
    }

    @Test(arguments: [("MOVE", "old"), ("MKCOL", "new")])
    func aRefusedLookUpStopsNoCommandOfSFTP(_ method: String, _ name: String) throws {
        let fields =
            method == "MOVE" ? [HeaderField("Destination", "sftp://h/new"), HeaderField("Overwrite", "F")] : []
        let error = TransferError(.badResponse, "Operation failed", isTransient: true)
        for failure in [FileServerFailure.denied("no"), .ambiguous("no")] + (method == "MOVE" ? [.error(error)] : []) {
            var (dialogue, _) = try dialogue(method, fields, url: "sftp://h/\(name)")
            let next = step(dialogue.ended(.failed(failure), sent: 0, madeFolder: false))
            #expect(next == (method == "MOVE" ? .rename(to: try url("sftp://h/new")) : .makeFolder))
        }
    }

    @Test func aFileWithoutItsLengthIsTheWhole() throws {
        var (dialogue, _) = try dialogue("GET", Self.range)
        _ = dialogue.ended(.failed(.ambiguous("550 no")), sent: 0, madeFolder: false)
        guard case .deliver(let answer) = dialogue.bodyBegins(RemoteFile(size: nil, modified: 9)) else {
            throw TestFailure()
        }
        #expect(answer.status == 200 && answer.contentLength == nil && answer.value("ETag") == nil)
        guard case .finish = dialogue.ended(.done(RemoteFile()), sent: 0, madeFolder: false) else {
            throw TestFailure()
        }
    }

    // MARK: Uploads

    @Test func aFileIsStored() throws {
        var (dialogue, first) = try dialogue("PUT")
        #expect(first == .store && dialogue.sendsBody && !dialogue.measuresStore)
        let answer = head(dialogue.ended(.done(RemoteFile()), sent: 9, madeFolder: false))
        #expect(answer?.status == 201 && answer?.value("Server-Length") == nil)
    }

    /// FTP's server is asked after the file. SFTP's server has answered each WRITE.
    @Test func theLengthThatTheServerHasComesWithTheAnswer() throws {
        let fields = [HeaderField("Prefer", "return=representation")]
        var (dialogue, _) = try dialogue("PUT", fields)
        #expect(dialogue.measuresStore)
        var answer = head(dialogue.ended(.done(RemoteFile(size: 8, modified: nil)), sent: 9, madeFolder: false))
        #expect(answer?.value("Server-Length") == "8")
        (dialogue, _) = try self.dialogue("PUT", fields, url: "sftp://h/x")
        answer = head(dialogue.ended(.done(RemoteFile()), sent: 9, madeFolder: false))
        #expect(answer?.value("Server-Length") == "9")
    }

    @Test(arguments: [("226 done\r\n213 17\r\n", 17), ("226 done\r\n550 no\r\n", nil), ("226 done\r\n", nil)])
    func theReplyAfterAStoreReportsItsLength(_ lines: String, _ size: Int64?) {
        var replies = FTPReplies()
        for line in lines.utf8.split(separator: 10) { replies.received(line) }
        #expect(replies.storedSize == size)
    }

    /// The status is that of the refused rename command, and not that of the command after it.
    @Test func theFirstRefusalOfAPairIsTheReason() {
        var replies = FTPReplies()
        for line in ["550 login is over", "550 no such file", "503 RNFR first"] { replies.received(line.utf8) }
        #expect(replies.refusal(ofLast: 2)?.text == "no such file" && replies.refusal(ofLast: 1)?.code == 503)
        replies.received("350 ready".utf8)
        replies.received("250 done".utf8)
        #expect(replies.refusal(ofLast: 2) == nil)
    }

    @Test(arguments: [
        (FileServerFailure.missing(""), 409), (.denied(""), 403), (.exists(""), 409), (.full(""), 507),
    ])
    func aRefusedFileHasAStatus(_ failure: FileServerFailure, _ status: Int) throws {
        var (dialogue, _) = try dialogue("PUT")
        #expect(head(dialogue.ended(.failed(failure), sent: 0, madeFolder: false))?.status == status)
    }

    @Test func aRestIsAppendedToThePartialFile() throws {
        var (dialogue, first) = try dialogue("PATCH", [HeaderField("Upload-Offset", "100")])
        #expect(first == .look(try url()))
        #expect(step(dialogue.ended(.done(Self.file), sent: 0, madeFolder: false)) == .append(at: 100))
        let answer = head(dialogue.ended(.done(RemoteFile()), sent: 7, madeFolder: false))
        #expect(answer?.status == 204 && answer?.value("Upload-Offset") == "107")
    }

    @Test(arguments: [0, 50, 200] as [Int64]) func atAnotherOffsetNothingIsSent(_ offset: Int64) throws {
        var (dialogue, _) = try dialogue("PATCH", [HeaderField("Upload-Offset", "\(offset)")])
        let answer = head(dialogue.ended(.done(Self.file), sent: 0, madeFolder: false))
        #expect(answer?.status == 409 && answer?.value("Upload-Offset") == "100")
    }

    @Test func aMissingFileAcceptsOnlyItsBeginning() throws {
        var (dialogue, _) = try dialogue("PATCH", [HeaderField("Upload-Offset", "0")])
        #expect(step(dialogue.ended(.failed(.missing("")), sent: 0, madeFolder: false)) == .store)
        (dialogue, _) = try self.dialogue("PATCH", [HeaderField("Upload-Offset", "5")])
        let answer = head(dialogue.ended(.failed(.missing("")), sent: 0, madeFolder: false))
        #expect(answer?.status == 409 && answer?.value("Upload-Offset") == "0")
        (dialogue, _) = try self.dialogue("PATCH", [HeaderField("Upload-Offset", "5")])
        #expect(error(dialogue.ended(.done(RemoteFile()), sent: 0, madeFolder: false))?.isTransient == false)
    }

    struct TestFailure: Error {}
}

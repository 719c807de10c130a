import Testing
import TransferCore

@testable import TransferUpload

@Suite struct FormUploadTests {
    private let source = UploadSource(name: "a \"b\".bin", size: 10)

    private func form() -> FormUpload {
        FormUpload(
            url: "http://h/in", source: source,
            fields: [HeaderField("team", "media"), HeaderField("quo\"te", "x\r\ny")], fileField: "data",
            boundary: "BOUND")
    }

    @Test func theFieldsStandBeforeTheFile() throws {
        var form = form()
        guard case .send(let request)? = form.begin(now: 0).first else { throw Failure() }
        #expect(
            request.method == "POST" && request.headers.value("Content-Type") == "multipart/form-data; boundary=BOUND")
        guard case .source(0..<10, let prefix, let suffix) = request.body else { throw Failure() }
        let expected = """
            --BOUND\r
            Content-Disposition: form-data; name="team"\r
            \r
            media\r
            --BOUND\r
            Content-Disposition: form-data; name="quo%22te"\r
            \r
            x\r\ny\r
            --BOUND\r
            Content-Disposition: form-data; name="data"; filename="a %22b%22.bin"\r
            Content-Type: application/octet-stream\r
            \r

            """
        #expect(String(decoding: prefix, as: UTF8.self) == expected)
        #expect(String(decoding: suffix, as: UTF8.self) == "\r\n--BOUND--\r\n")
    }

    @Test func onlyASuccessEndsTheUpload() throws {
        var form = form()
        _ = form.begin(now: 0)
        let head = ResponseHead(status: 201, fields: [HeaderField("ETag", "\"x\"")])
        let done = form.handle(
            .answered(UploadAnswer(request: 1, head: head, body: [0x6F, 0x6B], url: "http://h/in")), now: 0)
        guard case .finish(let result)? = done.first else { throw Failure() }
        #expect(result.status == 201 && result.response == "ok" && result.validator == "\"x\"")
        let refusal = ResponseHead(status: 503, fields: [HeaderField("Retry-After", "7")])
        guard
            case .fail(let error)? = form.handle(
                .answered(UploadAnswer(request: 1, head: refusal, url: "http://h/in")), now: 0
            ).first
        else { throw Failure() }
        #expect(error.isTransient && error.retryAfter == .seconds(7))
    }

    @Test func twoFormsHaveOtherBoundaries() {
        #expect(FormUpload.randomBoundary() != FormUpload.randomBoundary())
    }

    private struct Failure: Error {}
}

@Suite struct FolderMakingPutTests {
    /// The folders of a WebDAV server, which answers as RFC 4918 specifies.
    private struct Server {
        var folders: Set<String>
        var log: [String] = []
        var missing = 409
        /// The status of its answer to every file, whether or not the folder exists.
        var trouble: Int?

        mutating func answer(_ request: UploadRequest) -> UploadEvent {
            log.append("\(request.method) \(request.url)")
            let status: Int
            let parent = FolderMakingPut.parent(of: request.url) ?? "http://h/"
            if request.method == "MKCOL" {
                status = folders.contains(request.url) ? 405 : folders.contains(parent) ? 201 : 409
                if status == 201 { folders.insert(request.url) }
            } else {
                status = trouble ?? (folders.contains(parent) ? 201 : missing)
            }
            return .answered(
                UploadAnswer(request: request.id, head: ResponseHead(status: status, fields: []), url: request.url))
        }
    }

    private func run(_ server: inout Server, _ url: String) -> UploadAction? {
        var dialogue = FolderMakingPut(url: url, source: UploadSource(name: "f", size: 3))
        var action = dialogue.begin(now: 0).first
        for _ in 0..<20 {
            guard case .send(let request)? = action else { return action }
            action = dialogue.handle(server.answer(request), now: 0).first
        }
        return nil
    }

    @Test func anExistingFolderIsNotMade() {
        var server = Server(folders: ["http://h/", "http://h/a/"])
        guard case .finish? = run(&server, "http://h/a/f") else { return #expect(Bool(false)) }
        #expect(server.log == ["PUT http://h/a/f"])
    }

    @Test(arguments: [409, 404, 403, 500]) func missingFoldersAreMadeFromTheOutside(_ missing: Int) {
        var server = Server(folders: ["http://h/", "http://h/a/"])
        server.missing = missing
        guard case .finish(let result)? = run(&server, "http://h/a/b/c/f") else { return #expect(Bool(false)) }
        #expect(result.status == 201)
        #expect(
            server.log == [
                "PUT http://h/a/b/c/f", "MKCOL http://h/a/b/c/", "MKCOL http://h/a/b/", "MKCOL http://h/a/b/c/",
                "PUT http://h/a/b/c/f",
            ])
    }

    @Test func anErrorUnrelatedToFoldersIsKept() {
        var server = Server(folders: ["http://h/", "http://h/a/"])
        server.trouble = 500
        guard case .fail(let error)? = run(&server, "http://h/a/f") else { return #expect(Bool(false)) }
        #expect(error.status == 500 && error.isTransient)
        #expect(server.log == ["PUT http://h/a/f", "MKCOL http://h/a/"])
    }

    @Test func aPutThatWasSentWholeIsAskedForNext() {
        let error = TransferError(.connectionLost, "lost", isTransient: true)
        for (method, sent, isKept) in [("PUT", 3, true), ("PUT", 2, false), ("POST", 3, false)]
            as [(String, Int64, Bool)]
        {
            var dialogue = FolderMakingPut(
                url: "http://h/a/f", method: method, source: UploadSource(name: "f", size: 3))
            _ = dialogue.begin(now: 7)
            let actions = dialogue.handle(.failed(request: 1, error, sent: sent), now: 9)
            let words = DeliveryRule.worded(error, sent: sent, of: 3)
            #expect(actions == (isKept ? [.save(ConfirmingPut.state(began: 7)), .fail(words)] : [.fail(error)]))
        }
    }

    @Test func aPutAfterTheFoldersIsResumableIfTheServerOffersIt() throws {
        let source = UploadSource(name: "f", size: 10)
        let options = ResumableOptions(url: "http://h/a/f", method: "PUT", mode: .upgrade)
        func dialogue(_ state: UploadState?) -> FolderMakingPut {
            FolderMakingPut(url: "http://h/a/f", source: source, upgrade: options, state: state)
        }
        var put = dialogue(nil)
        var server = Server(folders: ["http://h/"])
        guard case .send(let first)? = put.begin(now: 0).first else { throw Failure() }
        #expect(first.headers.value("Upload-Complete") == "?1")
        guard case .send(let folder)? = put.handle(server.answer(first), now: 0).first,
            case .send(let second)? = put.handle(server.answer(folder), now: 0).first
        else { throw Failure() }
        #expect(server.log == ["PUT http://h/a/f", "MKCOL http://h/a/"])
        #expect(second.method == "PUT" && second.headers.value("Upload-Complete") == "?1")
        let offer = ResponseHead(
            status: 104,
            fields: [HeaderField("Location", "/up/1"), HeaderField("Upload-Draft-Interop-Version", "8")])
        guard case .save(let state)? = put.handle(.interim(request: second.id, offer), now: 0).first else {
            throw Failure()
        }
        // The answer to an upload that began with a missing folder is not taken later for the answer to the file.
        var refused = dialogue(nil)
        guard case .send(let whole)? = refused.begin(now: 0).first else { throw Failure() }
        _ = refused.handle(.interim(request: whole.id, offer), now: 0)
        var other = Server(folders: ["http://h/"])
        let actions = refused.handle(other.answer(whole), now: 0)
        #expect(actions.first == .save("") && actions.count == 2)
        guard case .send(let removal)? = actions.last else { throw Failure() }
        #expect(removal.method == "DELETE" && removal.url == "http://h/up/1")
        let lost = TransferError(.connectionLost, "lost", isTransient: true)
        guard case .send(let making)? = refused.handle(.failed(request: removal.id, lost, sent: 0), now: 0).first else {
            throw Failure()
        }
        #expect(making.method == "MKCOL")
        var again = dialogue("")
        guard case .send(let anew)? = again.begin(now: 1).first else { throw Failure() }
        #expect(anew.method == "PUT")
        var next = dialogue(state)
        guard case .send(let question)? = next.begin(now: 1).first else { throw Failure() }
        #expect(question.method == "HEAD" && question.url == "http://h/up/1")
    }

    private struct Failure: Error {}

    @Test func aRepeatedRefusalIsFinal() {
        var server = Server(folders: [])
        guard case .fail(let error)? = run(&server, "http://h/a/f") else { return #expect(Bool(false)) }
        #expect(error.message.hasPrefix("the folder http://h/a/ cannot be made: 409"))
    }

    @Test(
        arguments: [
            ("http://h/a/b", "http://h/a/"), ("http://h/a/b/", "http://h/a/"),
            ("https://h:1/x%2Fy/z?q=/", "https://h:1/x%2Fy/"),
            ("http://h/a", nil), ("http://h/", nil), ("http://h", nil),
        ] as [(String, String?)])
    func aFileIsInAFolder(_ url: String, _ parent: String?) {
        #expect(FolderMakingPut.parent(of: url) == parent)
    }
}

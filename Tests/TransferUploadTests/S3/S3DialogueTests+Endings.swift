import Testing
import TransferCore
import TransferCrypto

@testable import TransferUpload

extension S3DialogueTests {
    // MARK: - Completing

    @Test func aLostCompletionIsAskedFor() throws {
        let completion = S3State.Completion(etag: "tag-4", checksum: "c-4")
        let md5 = try checksum("whole", .md5)
        func resumed() throws -> S3Script {
            var script = try S3Script(size: 350, state: S3Script.state(350, completion))
            _ = script.begin()
            #expect(S3Script.words(script.answer(1, 404, S3Samples.error("NoSuchUpload"))) == ["HEAD"])
            return script
        }
        let length = HeaderField("Content-Length", "350")
        var script = try resumed()
        #expect(
            S3Script.words(script.answer(2, 200, "", [length, HeaderField("ETag", "\"tag-4\"")]))
                == ["finish 200 \"tag-4\""])
        script = try resumed()
        #expect(
            S3Script.words(script.answer(2, 200, "", [length, HeaderField("x-amz-checksum-sha256", "c-4")]))
                == ["finish 200 -"])
        script = try resumed()
        #expect(
            S3Script.words(script.answer(2, 200, "", [length, HeaderField("ETag", "\"\(md5.hex)\"")]))
                == ["md5 0..<350"], "a server that makes one object of it gives it one's tag")
        #expect(S3Script.words(script.digested(3, md5)) == ["finish 200 \"\(md5.hex)\""])
        for (status, fields, words) in [
            (404, [], "it does not have the object"), (403, [], "it does not say whether it made the object (403)"),
            (
                200, [HeaderField("Content-Length", "349"), HeaderField("ETag", "\"tag-4\"")],
                "what is there is not known"
            ),
        ] {
            script = try resumed()
            let actions = script.answer(2, status, "", fields)
            #expect(S3Script.words(actions) == ["restart", "confirmed 0", "save", "POST uploads="])
            let reasons = actions.compactMap { action in
                if case .restart(let reason) = action { reason } else { nil }
            }
            #expect(reasons.count == 1 && reasons[0].contains(words), "\(reasons)")
        }
        script = try resumed()
        #expect(S3Script.words(script.answer(2, 503)) == ["fail httpStatus transient"])
    }

    @Test func aSuccessThatHoldsAnErrorIsNone() throws {
        func completing() throws -> S3Script {
            var script = try S3Script(size: 200, state: S3Script.state(200))
            _ = script.begin()
            _ = script.answer(1, 200, S3Samples.list([(1, 100), (2, 100)]))
            return script
        }
        var script = try completing()
        let end = script.answer(2, 200, S3Samples.error("InternalError", message: "We encountered an error"))
        #expect(S3Script.words(end) == ["fail httpStatus transient"])
        #expect(S3Script.failure(end)?.message == "InternalError: We encountered an error")
        #expect(S3Script.failure(end)?.status == nil, "its status says success")
        script = try completing()
        #expect(S3Script.words(script.answer(2, 200, S3Samples.error("AccessDenied"))) == ["fail httpStatus"])
        for body in ["", "   \n", "<CompleteMultipartUploadResult><ETag>", "<html>"] {
            script = try completing()
            #expect(S3Script.words(script.answer(2, 200, body)) == ["HEAD"], "neither yes nor no")
            #expect(S3Script.words(script.answer(3, 404)) == ["fail badResponse transient"])
        }
        script = try completing()
        #expect(S3Script.words(script.lose(2)) == ["fail connectionLost transient"])
        script = try completing()
        #expect(S3Script.words(script.answer(2, 404, S3Samples.error("NoSuchUpload"))) == ["HEAD"])
    }

    @Test func partsThatTheServerLostAreAskedForAgainOnce() throws {
        var script = try S3Script(size: 200, state: S3Script.state(200))
        _ = script.begin()
        _ = script.answer(1, 200, S3Samples.list([(1, 100), (2, 100)]))
        #expect(
            S3Script.words(script.answer(2, 400, S3Samples.error("InvalidPart")))
                == ["GET max-parts=400&part-number-marker=0&uploadId=u%2F1"])
        #expect(
            S3Script.words(script.answer(3, 200, S3Samples.list([(2, 100)])))
                == ["confirmed 100", "PUT partNumber=1&uploadId=u%2F1 0..<100"])
        #expect(S3Script.words(script.tag(4, 1)) == ["confirmed 200", "save", "POST uploadId=u%2F1"])
        // The list did not lead to completion, so the upload is abandoned. It is not sent a third time in one attempt.
        #expect(S3Script.words(script.answer(5, 400, S3Samples.error("InvalidPart"))) == ["DELETE uploadId=u%2F1"])
        #expect(S3Script.words(script.answer(6, 204)) == ["fail badResponse transient"])
    }

    @Test func keptChecksumsGoWithEveryRequestThatNeedsThem() throws {
        let options = S3Options(
            threshold: 100, partSize: 100, minimumPartSize: 1, parallel: 1, integrity: .storedSHA256)
        let digest = try checksum("x")
        var script = try S3Script(size: 101, options: options)
        let create = try #require(S3Script.requests(script.begin()).first)
        #expect(create.headers.value("x-amz-checksum-algorithm") == "SHA256")
        let state = try #require(S3Script.saved(script.answer(1, 200, S3Samples.created("u"))))
        let part = try #require(S3Script.requests(script.digested(2, digest)).first)
        #expect(part.headers.value("x-amz-checksum-sha256") == digest.base64)

        // The current options do not matter: the server requires the options with which the upload was created.
        var later = try S3Script(
            size: 101, state: state,
            options: S3Options(threshold: 100, partSize: 50, minimumPartSize: 1, integrity: .none))
        _ = later.begin()
        let held = S3Samples.list([(1, 100)]).replacing("<Size>", with: "<ChecksumSHA256>AAAA</ChecksumSHA256><Size>")
        #expect(S3Script.words(later.answer(1, 200, held)) == ["confirmed 100", "sha256 100..<101"])
        _ = later.digested(2, digest)
        let complete = later.tag(3, 2)
        let root = try #require(S3Script.document(complete))
        #expect(root.children.map { $0.text("ChecksumSHA256") } == ["AAAA", digest.base64])
    }

    // MARK: - Beginning again and giving up

    @Test func aSourceOfAnotherSizeFreesWhatWasThere() throws {
        var script = try S3Script(size: 300, state: S3Script.state(350))
        #expect(S3Script.words(script.begin()) == ["DELETE uploadId=u%2F1"])
        #expect(S3Script.words(script.answer(1, 204)) == ["restart", "confirmed 0", "save", "POST uploads="])
        var unreachable = try S3Script(size: 300, state: S3Script.state(350))
        _ = unreachable.begin()
        #expect(S3Script.words(unreachable.lose(1)) == ["fail connectionLost transient"])
        var single = try S3Script(size: 50, state: S3State(size: 60, stage: .single).saved)
        #expect(S3Script.words(single.begin()) == ["save", "PUT 0..<50"])
        var unreadable = try S3Script(size: 50, state: "s3/9 what")
        #expect(S3Script.words(unreadable.begin()) == ["restart", "confirmed 0", "save", "PUT 0..<50"])
    }

    @Test func aServerThatCantListIsSentEverything() throws {
        var script = try S3Script(size: 350, state: S3Script.state(350))
        _ = script.begin()
        // The upload ID stays: parts that are sent again replace the existing parts.
        #expect(
            S3Script.words(script.answer(1, 501, S3Samples.error("NotImplemented"))) == [
                "restart", "confirmed 0", "PUT partNumber=1&uploadId=u%2F1 0..<100",
                "PUT partNumber=2&uploadId=u%2F1 100..<200",
            ])
    }

    /// A list whose pages never end, and a list that breaks off.
    @Test func aListIsNeverReadForEver() throws {
        var script = try S3Script(size: 1000, state: S3Script.state(1000))
        var (actions, requests) = (script.begin(), 0)
        while requests < 100, S3Script.words(actions).first?.hasPrefix("GET") == true {
            requests += 1
            // The marker is one more than that of the last page.
            actions = script.answer(requests, 200, S3Samples.list([], next: requests))
        }
        #expect(requests == 6, "pages without parts lead nowhere, and few of them are asked for")
        #expect(S3Script.words(actions).contains("PUT partNumber=1&uploadId=u%2F1 0..<100"))
        script = try S3Script(size: 1000, state: S3Script.state(1000))
        _ = script.begin()
        _ = script.answer(1, 200, S3Samples.list([(1, 100), (2, 100)], next: 2))
        let rest = S3Script.words(script.answer(2, 403, S3Samples.error("AccessDenied")))
        #expect(rest.first == "confirmed 200" && rest.contains("PUT partNumber=3&uploadId=u%2F1 200..<300"))
    }

    @Test(arguments: [204, 200, 404])
    func givingUpAborts(_ status: Int) throws {
        var script = try S3Script(size: 350, state: S3Script.state(350))
        #expect(S3Script.words(script.abandon()) == ["DELETE uploadId=u%2F1"])
        #expect(S3Script.words(script.answer(1, status)) == ["finish \(status) -"])
        var failing = try S3Script(size: 350, state: S3Script.state(350))
        _ = failing.abandon()
        #expect(S3Script.words(failing.answer(1, 503)) == ["fail httpStatus transient"])
        for state in [nil, S3State(size: 350, stage: .single).saved, "rubbish"] {
            var nothing = try S3Script(size: 350, state: state)
            #expect(S3Script.words(nothing.abandon()) == ["finish 204 -"], "there is nothing to abort")
        }
    }
}

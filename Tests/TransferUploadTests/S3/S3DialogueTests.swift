import Synchronization
import Testing
import TransferCore
import TransferCrypto

@testable import TransferUpload

@Suite struct S3DialogueTests {
    func checksum(_ text: String, _ algorithm: DigestAlgorithm = .sha256) throws -> Checksum {
        try Digest.of(Array(text.utf8), algorithm)
    }

    @Test func hasTheDocumentedDefaults() {
        let options = S3Options()
        #expect(options.threshold == 16 << 20)
        #expect(options.partSize == nil)
        #expect(options.minimumPartSize == 5 << 20)
        #expect(options.parallel == nil)
        #expect(options.integrity == .sha256)
    }

    // MARK: - One request

    @Test func aSmallFileIsSentInOneRecordedRequest() throws {
        var script = try S3Script(size: 100)
        let first = script.begin()
        #expect(S3Script.words(first) == ["save", "PUT 0..<100"])
        let put = try #require(S3Script.requests(first).first)
        #expect(put.url == "https://s3.example/b/k")
        #expect(put.ownersFields == .none && !put.followsRedirects)
        #expect(put.headers.value("x-amz-content-sha256") == "UNSIGNED-PAYLOAD")
        #expect(put.headers.value("Content-Type") == "application/octet-stream")
        let last = script.answer(put.id, 200, "", [HeaderField("ETag", "\"e\"")])
        #expect(S3Script.words(last) == ["finish 200 \"e\""])
        #expect(S3Script.result(last)?.url == "https://s3.example/b/k")
        #expect(script.answer(put.id, 200).isEmpty, "nothing comes after the end")
    }

    /// The credentials are renewed while a request signed with the older key is under way.
    @Test func aRefusalOfExpiredCredentialsNamesTheKeyThatSigned() throws {
        let keys = Mutex(["OLD", "NEW", "NEWEST"])
        var script = try S3Script(size: 200)
        script.dialogue.renewedCredentials = {
            keys.withLock { S3Credentials(accessKey: $0.removeFirst(), secret: "S") }
        }
        let create = try #require(S3Script.requests(script.begin()).first)
        #expect(SignatureVersion4.accessKey(in: create.headers) == "OLD")
        let parts = S3Script.requests(script.answer(create.id, 200, S3Samples.created("u/1")))
        #expect(parts.map { SignatureVersion4.accessKey(in: $0.headers) } == ["NEW", "NEWEST"])
        let failure = S3Script.failure(script.answer(parts[0].id, 400, S3Samples.error("ExpiredToken")))
        #expect(failure?.hasExpiredCredentials == true && failure?.expiredAccessKey == "NEW")
        var other = try S3Script(size: 1)
        let put = try #require(S3Script.requests(other.begin()).first)
        let denied = S3Script.failure(other.answer(put.id, 403, S3Samples.error("AccessDenied")))
        #expect(denied?.status == 403 && denied?.expiredAccessKey == nil)
        #expect(SignatureVersion4.accessKey(in: [HeaderField("Authorization", "Bearer a/b")]) == nil)
    }

    @Test(
        arguments: [
            (.sha256, "x-amz-content-sha256"), (.storedSHA256, "x-amz-checksum-sha256"), (.md5, "Content-MD5"),
        ] as [(S3Options.Integrity, String)])
    func theBodysDigestGoesWithIt(_ integrity: S3Options.Integrity, _ field: String) throws {
        let options = S3Options(threshold: 100, integrity: integrity)
        let digest = try checksum("x", integrity == .md5 ? .md5 : .sha256)
        var script = try S3Script(size: 1, options: options)
        let first = script.begin()
        #expect(S3Script.words(first) == ["save", "\(digest.algorithm) 0..<1"])
        guard case .digest(let id, _, _)? = first.last else { return }
        let put = try #require(S3Script.requests(script.digested(id, digest)).first)
        #expect(put.headers.value(field) == (field == "x-amz-content-sha256" ? digest.hex : digest.base64))
        #expect(put.headers.value("Authorization")?.contains(field.lowercased()) == true, "it is signed")
        #expect((put.headers.value("x-amz-content-sha256") == "UNSIGNED-PAYLOAD") == (integrity == .md5))

        var known = try S3Script(size: 1, digest: digest, options: options)
        #expect(S3Script.words(known.begin()) == ["save", "PUT 0..<1"], "a digest that is known is not computed")
        var empty = try S3Script(size: 0, options: options)
        #expect(S3Script.words(empty.begin()) == ["save", "PUT 0..<0"])
    }

    @Test func theServersDigestOfTheWholeIsReported() throws {
        let digest = try checksum("x")
        var script = try S3Script(size: 1)
        _ = script.begin()
        let last = script.answer(1, 200, "", [HeaderField("x-amz-checksum-sha256", digest.base64)])
        #expect(S3Script.result(last)?.digest == digest)
        #expect(S3Answers.digest(digest.base64 + "-2") == nil, "that is one of parts' digests")
    }

    @Test func aGatewaysPageIsNoReceipt() throws {
        let page = HeaderField("Content-Type", "text/html; charset=utf-8")
        for (fields, expected) in [
            ([page], "fail badResponse transient"), ([page, HeaderField("ETag", "\"e\"")], "finish 200 \"e\""),
        ] {
            var script = try S3Script(size: 1)
            _ = script.begin()
            #expect(S3Script.words(script.answer(1, 200, "<html>Sign in</html>", fields)) == [expected])
        }
    }

    @Test(arguments: [203, 206, 207]) func aSuccessOfAnotherMeaningIsNoReceipt(_ status: Int) throws {
        var script = try S3Script(size: 1)
        _ = script.begin()
        #expect(S3Script.words(script.answer(1, status)) == ["fail badResponse transient"])
    }

    @Test func afterALostAnswerTheObjectIsAskedForFirst() throws {
        let md5 = try checksum("x", .md5)
        let sha = try checksum("x")
        var first = try S3Script(size: 1)
        let state = try #require(S3Script.saved(first.begin()))
        #expect(S3Script.words(first.lose(1)) == ["fail connectionLost transient"])

        func resumed(_ status: Int, _ fields: [(String, String)]) throws -> (S3Script, [UploadAction]) {
            var script = try S3Script(size: 1, state: state)
            #expect(S3Script.words(script.begin()) == ["HEAD"])
            let actions = script.answer(1, status, "", fields.map { HeaderField($0.0, $0.1) })
            return (script, actions)
        }
        var (script, actions) = try resumed(200, [("Content-Length", "1"), ("ETag", "\"\(md5.hex)\"")])
        #expect(S3Script.words(actions) == ["md5 0..<1"])
        #expect(S3Script.words(script.digested(2, md5)) == ["finish 200 \"\(md5.hex)\""])
        (script, actions) = try resumed(200, [("Content-Length", "1"), ("ETag", "\"\(md5.hex)\"")])
        #expect(S3Script.words(script.digested(2, try checksum("y", .md5))) == ["GET"], "its tag may be no digest")
        (script, actions) = try resumed(200, [("Content-Length", "1"), ("x-amz-checksum-sha256", sha.base64)])
        #expect(S3Script.words(actions) == ["sha256 0..<1"])
        #expect(S3Script.words(script.digested(2, sha)) == ["finish 200 -"])
        for (status, fields) in [
            (404, []), (403, []), (200, [("Content-Length", "2"), ("ETag", "\"\(md5.hex)\"")]),
        ] {
            (script, actions) = try resumed(status, fields)
            #expect(S3Script.words(actions) == ["restart", "PUT 0..<1"])
        }
        for fields in [[("Content-Length", "1"), ("ETag", "\"opaque\"")], [("Content-Length", "1")]] {
            (script, actions) = try resumed(200, fields)
            #expect(S3Script.words(actions) == ["GET"], "its bytes decide")
            #expect(S3Script.words(script.answer(2, 403)) == ["restart", "PUT 0..<1"])
        }
        (script, actions) = try resumed(500, [])
        #expect(S3Script.words(actions) == ["fail httpStatus transient"], "not known is not no")
    }

    @Test func anObjectWithOtherMetadataIsNotOurs() throws {
        let md5 = try checksum("x", .md5)
        let options = S3Options(
            integrity: .none,
            headers: [HeaderField("X-Amz-Meta-A", " 1  2"), HeaderField("Content-Type", "text/plain")])
        for (value, expected) in [("1 2", ["md5 0..<1"]), ("1  2", ["md5 0..<1"]), ("3", ["restart", "PUT 0..<1"])] {
            var script = try S3Script(size: 1, state: S3State(size: 1, stage: .single).saved, options: options)
            _ = script.begin()
            let actions = script.answer(
                1, 200, "",
                [
                    HeaderField("Content-Length", "1"), HeaderField("ETag", "\"\(md5.hex)\""),
                    HeaderField("x-amz-meta-a", value), HeaderField("Content-Type", "text/plain"),
                ])
            #expect(S3Script.words(actions) == expected)
        }
    }

    // MARK: - Parts

    @Test func partsGoSideBySideAndComeBackInAnyOrder() throws {
        var script = try S3Script(size: 350)
        let create = script.begin()
        #expect(S3Script.words(create) == ["save", "POST uploads="])
        #expect(S3Script.requests(create).first?.body == .bytes([]))
        let first = script.answer(1, 200, S3Samples.created("u/1"))
        #expect(
            S3Script.words(first)
                == ["save", "PUT partNumber=1&uploadId=u%2F1 0..<100", "PUT partNumber=2&uploadId=u%2F1 100..<200"])
        #expect(
            S3Script.words(script.tag(3, 2))
                == ["confirmed 100", "PUT partNumber=3&uploadId=u%2F1 200..<300"])
        #expect(
            S3Script.words(script.tag(2, 1)) == ["confirmed 200", "PUT partNumber=4&uploadId=u%2F1 300..<350"])
        #expect(S3Script.words(script.tag(5, 4)) == ["confirmed 250"])
        let complete = script.tag(4, 3)
        #expect(S3Script.words(complete) == ["confirmed 350", "save", "POST uploadId=u%2F1"])
        let root = try #require(S3Script.document(complete))
        #expect(root.children.compactMap { $0.text("PartNumber") } == ["1", "2", "3", "4"])
        #expect(root.children.first?.text("ETag") == "\"\(S3Samples.etag(1))\"")
        let last = script.answer(
            6, 200, "<CompleteMultipartUploadResult><ETag>\"e-4\"</ETag></CompleteMultipartUploadResult>")
        #expect(S3Script.words(last) == ["finish 200 \"e-4\""])
    }

    @Test func digestsAreReadOnePartAhead() throws {
        let options = S3Options(threshold: 100, partSize: 100, minimumPartSize: 1, parallel: 2, integrity: .sha256)
        let digest = try checksum("x")
        var script = try S3Script(size: 500, options: options)
        _ = script.begin()
        let first = script.answer(1, 200, S3Samples.created("u"))
        #expect(S3Script.words(first) == ["save", "sha256 0..<100", "sha256 100..<200", "sha256 200..<300"])
        #expect(S3Script.words(script.digested(3, digest)) == ["PUT partNumber=2&uploadId=u 100..<200"])
        #expect(S3Script.words(script.digested(4, digest)) == ["PUT partNumber=3&uploadId=u 200..<300"])
        #expect(script.digested(2, digest).isEmpty, "two are under way")
        #expect(
            S3Script.words(script.tag(5, 2))
                == ["confirmed 100", "PUT partNumber=1&uploadId=u 0..<100", "sha256 300..<400"])
    }

    @Test func aNewProcessSendsOnlyWhatIsMissing() throws {
        var script = try S3Script(size: 350, state: S3Script.state(350))
        let list = script.begin()
        #expect(S3Script.words(list) == ["GET max-parts=400&part-number-marker=0&uploadId=u%2F1"])
        #expect(
            S3Script.words(script.answer(1, 200, S3Samples.list([(1, 100), (2, 99)], next: 2)))
                == ["GET max-parts=400&part-number-marker=2&uploadId=u%2F1"])
        #expect(
            S3Script.words(script.answer(2, 200, S3Samples.list([(4, 50), (5, 100)])))
                == [
                    "confirmed 150", "PUT partNumber=2&uploadId=u%2F1 100..<200",
                    "PUT partNumber=3&uploadId=u%2F1 200..<300",
                ], "the second has another size, and there is no fifth")
        _ = script.tag(3, 2)
        let complete = script.tag(4, 3)
        #expect(S3Script.words(complete) == ["confirmed 350", "save", "POST uploadId=u%2F1"])
    }

    @Test func aTruncatedListContinuesWhereItEnded() throws {
        var script = try S3Script(size: 350, state: S3Script.state(350))
        _ = script.begin()
        let cut = String(S3Samples.list([(1, 100), (2, 100), (3, 100)], next: 3).dropLast(80))
        #expect(
            S3Script.words(script.answer(1, 200, cut)) == ["GET max-parts=400&part-number-marker=2&uploadId=u%2F1"])
        #expect(
            S3Script.words(script.answer(2, 200, S3Samples.list([(1, 100)], next: 2)))
                == [
                    "confirmed 200", "PUT partNumber=3&uploadId=u%2F1 200..<300",
                    "PUT partNumber=4&uploadId=u%2F1 300..<350",
                ],
            "a list that leads nowhere is not followed for ever; parts that it does not name are sent")
    }

    @Test func everyPartThatIsThereLeavesOnlyTheCompletion() throws {
        var script = try S3Script(size: 200, state: S3Script.state(200))
        _ = script.begin()
        #expect(
            S3Script.words(script.answer(1, 200, S3Samples.list([(1, 100), (2, 100)])))
                == ["confirmed 200", "save", "POST uploadId=u%2F1"])
    }

    @Test func aPartIsTriedThreeTimesAndThenStopsTheOthers() throws {
        var script = try S3Script(size: 350)
        _ = script.begin()
        _ = script.answer(1, 200, S3Samples.created("u"))
        let part = "PUT partNumber=1&uploadId=u 0..<100"
        #expect(S3Script.words(script.lose(2)) == [part])
        #expect(S3Script.words(script.answer(4, 500, S3Samples.error("InternalError"))) == [part])
        #expect(S3Script.words(script.lose(5)) == ["stop 3", "fail connectionLost transient"])

        var refused = try S3Script(size: 350)
        _ = refused.begin()
        _ = refused.answer(1, 200, S3Samples.created("u"))
        #expect(
            S3Script.words(refused.answer(2, 403, S3Samples.error("AccessDenied"))) == ["stop 3", "fail httpStatus"])

        var paused = try S3Script(size: 350)
        _ = paused.begin()
        _ = paused.answer(1, 200, S3Samples.created("u"))
        let end = paused.answer(2, 503, S3Samples.error("SlowDown"), [HeaderField("Retry-After", "7")])
        #expect(
            S3Script.words(end) == ["stop 3", "fail httpStatus transient"], "a server that asks for a pause gets it")
        #expect(S3Script.failure(end)?.scope == .origin)
        #expect(S3Script.failure(end)?.retryAfter == .seconds(7))
    }

    @Test func aPartThatArrivedDamagedIsDigestedAnew() throws {
        let options = S3Options(threshold: 100, partSize: 100, minimumPartSize: 1, parallel: 1, integrity: .sha256)
        var script = try S3Script(size: 200, options: options)
        _ = script.begin()
        _ = script.answer(1, 200, S3Samples.created("u"))
        _ = script.digested(2, try checksum("x"))
        #expect(
            S3Script.words(script.answer(4, 400, S3Samples.error("XAmzContentSHA256Mismatch"))) == ["sha256 0..<100"])
    }

    @Test func anUploadThatIsGoneBeginsAgainOnce() throws {
        let gone = S3Samples.error("NoSuchUpload")
        var script = try S3Script(size: 350, state: S3Script.state(350))
        _ = script.begin()
        #expect(S3Script.words(script.answer(1, 404, gone)) == ["restart", "confirmed 0", "save", "POST uploads="])
        _ = script.answer(2, 200, S3Samples.created("v"))
        #expect(S3Script.words(script.answer(3, 404, gone)) == ["stop 4", "fail badResponse transient"])

        var midway = try S3Script(size: 350)
        _ = midway.begin()
        _ = midway.answer(1, 200, S3Samples.created("u"))
        #expect(
            S3Script.words(midway.answer(3, 404, gone)) == [
                "stop 2", "restart", "confirmed 0", "save", "POST uploads=",
            ])
    }

    @Test func aMissingBucketIsNoMissingUpload() throws {
        var script = try S3Script(size: 350, state: S3Script.state(350))
        _ = script.begin()
        let end = script.answer(1, 404, S3Samples.error("NoSuchBucket", message: "It is not there."))
        #expect(S3Script.words(end) == ["fail httpStatus"])
        #expect(S3Script.failure(end)?.message == "NoSuchBucket: It is not there")
        #expect(S3Script.failure(end)?.status == 404)
    }
}

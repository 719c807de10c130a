import TransferCore
import TransferCrypto

/// One evaluation's search for the status of its certificates.
struct RevocationCheck {
    let options: RevocationTrustEvaluator.Options
    let sources: RevocationSources
    let cache: RevocationCache
    /// Seconds since 1970.
    let now: Int64
    let deadline: ContinuousClock.Instant

    struct Finding {
        var status = RevocationStatus.unknown
        /// What was wrong with each source.
        var problems: [String] = []
        /// Whether the certificate names anybody to ask.
        var hasSources = false
    }

    func status(of certificate: Certificate, issuer: Certificate, stapled: [UInt8]?) -> Finding {
        var finding = Finding()
        var ways: [(RevocationTrustEvaluator.Options, (inout Finding) -> Void)] = [
            (.ocsp, { ocsp(certificate, issuer, stapled, &$0) }), (.crl, { lists(certificate, issuer, &$0) }),
        ]
        if options.contains(.preferCRL) { ways.reverse() }
        for (way, look) in ways where options.contains(way) {
            look(&finding)
            // Nobody's "unknown" is an answer where somebody else may know more.
            if finding.status != .unknown { return finding }
        }
        return finding
    }

    // MARK: OCSP

    private func ocsp(_ certificate: Certificate, _ issuer: Certificate, _ stapled: [UInt8]?, _ finding: inout Finding)
    {
        let responders = certificate.responderURLs
        finding.hasSources = finding.hasSources || !responders.isEmpty
        let question: OCSPQuestion
        do {
            question = try OCSPQuestion(certificate: certificate, issuer: issuer, usesNonce: sources.usesNonce)
        } catch {
            finding.problems.append(error.message)
            return
        }
        if let stapled {
            do {
                // Made for all who ask, so it can't have the nonce of this question.
                let plain = try OCSPQuestion(certificate: certificate, issuer: issuer)
                finding.status = try plain.answer(stapled, at: now).status
            } catch {
                finding.problems.append("stapled: \(error.message)")
            }
            if finding.status != .unknown { return }
        }
        let key = RevocationCache.AnswerKey(certificate: certificate.sha256, issuer: issuer.sha256)
        if !sources.usesNonce, let answer = cache.answer(key, at: now) {
            finding.status = answer.status
            return
        }
        guard !options.contains(.networkAccessDisabled) else { return }
        for responder in responders {
            do {
                let answer = try ask(question, at: responder)
                finding.status = answer.status
                if answer.status == .unknown { finding.problems.append("\(responder) doesn't know it") }
                cache.keep(answer, for: key, at: now)
            } catch {
                finding.problems.append("\(responder): \(error.message)")
            }
            if finding.status != .unknown { return }
        }
    }

    private func ask(_ question: OCSPQuestion, at responder: String) throws(TransferError) -> RevocationAnswer {
        // GET can be answered by caches on the way (RFC 5019 §5); a responder may understand only POST.
        if !sources.usesNonce, let url = question.url(at: responder) {
            let bytes = try? fetch(url, limit: sources.maxAnswerSize)
            if let answer = bytes.flatMap({ try? question.answer($0, at: now) }) { return answer }
        }
        let bytes = try RevocationFetcher.shared.fetch(
            responder, posting: question.der, type: "application/ocsp-request", limit: sources.maxAnswerSize,
            deadline: deadline, proxy: sources.proxy)
        return try question.answer(bytes, at: now)
    }

    // MARK: Lists

    private func lists(_ certificate: Certificate, _ issuer: Certificate, _ finding: inout Finding) {
        for list in sources.lists {
            // A given list is a whole authority's, so that others' are no problem worth a word.
            guard let answer = try? list.answer(about: certificate, issuer: issuer, at: now) else { continue }
            finding.status = answer.status
            return
        }
        let urls = certificate.revocationListURLs
        finding.hasSources = finding.hasSources || !urls.isEmpty
        for url in urls {
            if let kept = cache.list(url, at: now),
                let answer = try? kept.answer(about: certificate, issuer: issuer, at: now)
            {
                finding.status = answer.status
                return
            }
            guard !options.contains(.networkAccessDisabled) else { continue }
            do {
                let list = try RevocationList(pemOrDER: try fetch(url, limit: sources.maxListSize))
                finding.status = try list.answer(about: certificate, issuer: issuer, at: now).status
                cache.keep(list, from: url, at: now)
                return
            } catch {
                finding.problems.append("\(url): \(error.message)")
            }
        }
    }

    private func fetch(_ url: String, limit: Int) throws(TransferError) -> [UInt8] {
        try RevocationFetcher.shared.fetch(url, limit: limit, deadline: deadline, proxy: sources.proxy)
    }
}

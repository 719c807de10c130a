import TransferCore
import TransferCrypto

/// The search for the status of one evaluation's certificates.
struct RevocationCheck {
    let options: RevocationTrustEvaluator.Options
    let sources: RevocationSources
    let cache: RevocationCache
    /// The moment of the evaluation, in seconds since 1970.
    let now: Int64
    let deadline: ContinuousClock.Instant

    struct Finding {
        var status = RevocationStatus.unknown
        /// The problems of the sources.
        var problems: [String] = []
        /// Whether the certificate names a source.
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
            // The next source may know the status when this one does not.
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
                // A stapled response is made for all clients, and so cannot contain the nonce of this request.
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
                if answer.status == .unknown { finding.problems.append("\(responder) does not know it") }
                cache.keep(answer, for: key, at: now)
            } catch {
                finding.problems.append("\(responder): \(error.message)")
            }
            if finding.status != .unknown { return }
        }
    }

    private func ask(_ question: OCSPQuestion, at responder: String) throws(TransferError) -> RevocationAnswer {
        // Caches on the route can answer a GET (RFC 5019 §5), but a responder may support only POST.
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
            // A list of the program belongs to a single authority, so that lists of others are no problem to report.
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

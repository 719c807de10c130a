package import TransferCore
package import TransferUpload

/// The answers of sources of S3 credentials. No message contains a part of an answer besides an error's code.
package enum S3CredentialAnswer {
    /// Reads what a container, a machine or a program gives.
    ///
    /// The form is that of `credential_process`; metadata services name the session token `Token` and have no version.
    package static func json(
        _ bytes: [UInt8], from source: S3CredentialSource
    ) throws(TransferError) -> S3CredentialLease {
        let members = try object(bytes, source)
        if let code = members["Code"], code != "Success" { throw fault(source, "answered \(shown(code))") }
        if case .process = source, members["Version"] != "1" {
            throw fault(source, "wrote no \"Version\": 1")
        }
        return try lease(
            key: members["AccessKeyId"], secret: members["SecretAccessKey"],
            token: members["SessionToken"] ?? members["Token"], expires: try end(members["Expiration"], source), source)
    }

    /// Reads the answer of the access portal of IAM Identity Center, whose time of expiry is in milliseconds.
    package static func portal(
        _ bytes: [UInt8], from source: S3CredentialSource
    ) throws(TransferError) -> S3CredentialLease {
        let members = try object(bytes, source)
        let inner = "roleCredentials."
        return try lease(
            key: members[inner + "accessKeyId"], secret: members[inner + "secretAccessKey"],
            token: members[inner + "sessionToken"],
            expires: members[inner + "expiration"].flatMap { Int64($0) }.map { $0 / 1000 }, source)
    }

    /// Reads the answer of the Security Token Service.
    package static func tokenService(
        _ bytes: [UInt8], from source: S3CredentialSource
    ) throws(TransferError) -> S3CredentialLease {
        let answer = XMLElement.read(bytes)
        let results = ["AssumeRoleWithWebIdentityResult", "AssumeRoleResult"]
        guard let credentials = results.lazy.compactMap({ answer?.child($0)?.child("Credentials") }).first else {
            throw fault(source, "gave an answer without credentials")
        }
        return try lease(
            key: credentials.text("AccessKeyId"), secret: credentials.text("SecretAccessKey"),
            token: credentials.text("SessionToken"), expires: try end(credentials.text("Expiration"), source), source)
    }

    /// Reads the token that `aws sso login` stored.
    ///
    /// - Throws: `secretMissing` for a token that is missing or has expired, with the command that makes a new one.
    package static func storedToken(
        _ text: String, of signOn: S3CredentialSource.SingleSignOn, now: Int64
    ) throws(TransferError) -> String {
        let source = S3CredentialSource.singleSignOn(signOn)
        let members = try object(Array(text.utf8), source)
        let expires = try end(members["expiresAt"], source)
        guard let token = members["accessToken"], expires.map({ now < $0 }) ?? true else {
            throw TransferError(.secretMissing, "the sign-in of \(source) has expired; run `\(signOn.login)`")
        }
        return token
    }

    /// Returns the error of a refusal.
    ///
    /// - Parameter accessKey: The ID of the key that signed the request; `nil` for a request without a signature.
    package static func refusal(
        _ status: Int, _ body: [UInt8], by source: S3CredentialSource, signedBy accessKey: String? = nil
    ) -> TransferError {
        let error = XMLElement.read(body).map { $0.child("Error") ?? $0 }
        let code = (error?.text("Code")).map { " (\(shown($0)))" } ?? ""
        var advice = ""
        if case .singleSignOn(let signOn) = source, status == 401 { advice = "; run `\(signOn.login)`" }
        var refusal = fault(source, "answered \(status)\(code)\(advice)")
        refusal.isTransient = status >= 500 || status == 429
        if let accessKey, let code = error?.text("Code"), S3CredentialLease.codesOfExpiry.contains(code) {
            (refusal.hasExpiredCredentials, refusal.expiredAccessKey) = (true, accessKey)
        }
        return refusal
    }

    package static func fault(_ source: S3CredentialSource, _ message: String) -> TransferError {
        TransferError(.secretMissing, "no S3 credentials: \(source) \(message)")
    }

    private static func lease(
        key: String?, secret: String?, token: String?, expires: Int64?, _ source: S3CredentialSource
    ) throws(TransferError) -> S3CredentialLease {
        guard let key, let secret, !key.isEmpty, !secret.isEmpty else {
            throw fault(source, "gave no key or no secret")
        }
        // A control character would end the header field that carries it.
        guard (key + secret + (token ?? "")).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw fault(source, "gave a key with a control character")
        }
        return S3CredentialLease(
            credentials: S3Credentials(accessKey: key, secret: secret, sessionToken: token), expires: expires)
    }

    private static func end(_ text: String?, _ source: S3CredentialSource) throws(TransferError) -> Int64? {
        guard let text, !text.isEmpty else { return nil }
        // Programs write UTC also as an offset.
        var time = text
        for zero in ["+00:00", "+0000"] where time.hasSuffix(zero) { time = time.dropLast(zero.count) + "Z" }
        guard let end = S3Answers.time(time) else { throw fault(source, "gave an end that is no time in UTC") }
        return end
    }

    /// Returns the code of an error, which is a word.
    private static func shown(_ code: String) -> String {
        String(code.prefix(64).filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "_") })
    }

    // MARK: JSON

    /// Returns the texts and numbers of an object, and those of its objects by `outer.inner`.
    private static func object(
        _ bytes: [UInt8], _ source: S3CredentialSource
    ) throws(TransferError) -> [String: String] {
        let read: [String: String]? = bytes.withUnsafeBufferPointer { buffer in
            var reader = JSONReader(buffer)
            var members: [String: String] = [:]
            do throws(JSONFault) {
                guard try reader.kind() == .object else { return nil }
                try collect(&reader, "", into: &members)
                try reader.expectEnd()
                return members
            } catch {
                return nil
            }
        }
        guard let read else { throw fault(source, "gave no JSON object") }
        return read
    }

    private static func collect(
        _ reader: inout JSONReader, _ prefix: String, into members: inout [String: String]
    ) throws(JSONFault) {
        try reader.beginObject()
        var isFirst = true
        while let key = try reader.key(isFirst: &isFirst) {
            let name = prefix + reader.string(key)
            switch try reader.kind() {
            case .string:
                let text = try reader.string()
                members[name] = reader.string(text)
            case .number:
                let number = try reader.number()
                members[name] = String(decoding: reader.bytes[number.range], as: UTF8.self)
            case .object: try collect(&reader, name + ".", into: &members)
            case .array, .boolean, .null: try reader.skipValue()
            }
        }
    }
}

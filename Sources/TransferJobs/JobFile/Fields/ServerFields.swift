import TransferCore

// The keys for requests and logins to one server; each side of a copy has its own.
extension SettingsFields {
    /// The keys, in the order of a job's keys.
    package static let ofServers: [Field<JobSettings>] = [
        headers, connectTimeout, timeout, lowSpeed, AccessFields.proxy, noProxy, tlsRules, AccessFields.auth, cookies,
        httpVersion, maxRedirects, s3, ssh, ftp,
    ]

    static let connectTimeout = Field<JobSettings>(
        "connectTimeout", \.connectTimeout, .duration, standard: #""30s""#,
        "The longest time to connect, TLS included.")

    static let timeout = Field<JobSettings>(
        "timeout", \.timeout, .duration, standard: #""60s""#,
        "The longest silence while an answer is waited for or read.")

    static let lowSpeed = Field<JobSettings>(
        "lowSpeed", \.lowSpeed, lowSpeedKeys, from: JobSettings.LowSpeed(rate: 1, time: .seconds(30)),
        "A transfer slower than this rate for this time counts as stalled.")

    static let cookies = Field<JobSettings>(
        "cookies", \.http.cookies, .path,
        "A file of cookies in Netscape's format. Each server gets only its own cookies.")

    static let httpVersion = Field<JobSettings>(
        "httpVersion", \.http.version, .word,
        "The only version of HTTP to use. By default, the best version that both sides support is used.")

    static let maxRedirects = Field<JobSettings>(
        "maxRedirects", \.maxRedirects, .integer(FieldRanges.redirects), standard: "10",
        "The largest number of redirects to follow.")

    static let s3 = Field<JobSettings>(
        "s3", \.s3, AccessFields.s3, from: JobSettings.S3Access(),
        hash: { hash, settings in
            guard let s3 = settings.s3 else { return }
            hash.add("s3")
            hash.add(s3.endpoint ?? "")
        },
        "The server and the credentials for s3:// URLs. Values that are not set are taken from where the AWS tools "
            + "look for them.",
        check: { decoder, access, start in
            guard (access.accessKey == nil) != (access.secretKey == nil) else { return }
            decoder.note(
                "\"s3\" has both \"accessKey\" and \"secretKey\", or neither", decoder.brace(start))
        })

    static let ssh = Field<JobSettings>(
        "ssh", \.ssh, AccessFields.ssh, from: JobSettings.SSHAccess(),
        // A different user's home is a different place.
        hash: { hash, settings in
            guard let user = settings.ssh?.user else { return }
            hash.add("ssh")
            hash.add(user)
        },
        "The login and the known keys for servers of sftp:// URLs. Values that are not set are those of ssh.",
        check: { decoder, access, start in
            guard access.keyPassphrase != nil, access.key == nil, !decoder.isTrusted else { return }
            decoder.note("\"keyPassphrase\" needs a \"key\"", decoder.brace(start))
        })

    static let ftp = Field<JobSettings>(
        "ftp", \.ftp, AccessFields.ftp, from: JobSettings.FTPAccess(),
        "The rules for servers of ftp:// and ftps:// URLs.")

    /// The hosts that are reached without a proxy. They add to the proxy, whichever object names it.
    static let noProxy = Field<JobSettings>(
        FieldNote(
            "The names, domains and CIDR blocks that are reached without a proxy, comma-separated. A proxy of the "
                + "environment is not used for them either.", schema: #""type": "string""#),
        // The output of the proxy writes this value.
        FieldOutput("noProxy") { _, _ in },
        copy: { one, other in
            if one.proxy == nil, other.proxy?.isOfEnvironment == true { one.proxy = other.proxy }
            one.proxy?.noProxy = other.proxy?.noProxy
        },
        unset: { settings in
            if settings.proxy?.isOfEnvironment == true { settings.proxy = nil }
            settings.proxy?.noProxy = nil
        }
    ) { (decoder, settings) throws(JSONFault) in
        let list = try decoder.string {
            HeaderRule.refusal(ofValue: $0) == nil ? nil : "a list of hosts, comma-separated"
        }
        guard let list else { return }
        if settings.proxy == nil { settings.proxy = .environment(except: list) }
        settings.proxy?.noProxy = list
    }

    static let tlsRules = Field<JobSettings>(
        "tls", \.tls, tls, standard: JobSettings.TLSSettings(),
        "The authorities to trust, and the certificate to show to servers that ask for one.")
}

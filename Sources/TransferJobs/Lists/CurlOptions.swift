/// The meaning of each option of curl (its manual, 7.88 to 8.11) in a list.
package enum CurlOptions {
    package static let all = parts + harmless + mapped + refused + leftOut

    private static let parts = [
        part("url", .url), part("output o", .output), part("output-dir", .outputFolder),
        part("upload-file T", .upload), part("user u", .user), part("data d", .data), part("data-ascii", .data),
        part("data-binary", .data), part("data-raw", .rawData), part("data-urlencode", .encodedData),
        part("json", .json), part("form F", .form), part("form-string", .formText),
        part("remote-name O", .remoteName, takesValue: false),
        part("remote-name-all", .remoteNames, takesValue: false), part("next :", .next, takesValue: false),
        part("globoff g", .globOff, takesValue: false), part("get G", .query, takesValue: false),
        part("ftp-create-dirs", .createFolders, takesValue: false),
    ]

    private static let harmless =
        flags(
            """
            location L,fail f,fail-early,fail-with-body,silent s,show-error S,remote-time R,create-dirs,parallel Z,
            parallel-immediate,progress-bar #,progress-meter,buffer N,keepalive,sessionid,alpn,npn,verbose v,
            remote-header-name J,retry-connrefused,retry-all-errors,remove-on-error,tr-encoding,
            compressed-ssh,tcp-nodelay,tcp-fastopen,junk-session-cookies j,basic,anyauth,styled-output,
            suppress-connect-headers,disallow-username-in-url,disable q,ftp-pasv,http2,http2-prior-knowledge,http3,
            http3-only,false-start,proxy-basic,proxy-anyauth,sasl-ir,trace-time,trace-ids,http0.9,tlsv1
            """, .common(.harmless))
        + valued(
            """
            cert-type,key-type,keepalive-time,keepalive-cnt,expect100-timeout,happy-eyeballs-timeout-ms,stderr,trace,
            trace-ascii,trace-config,libcurl,pubkey,random-file,egd-file
            """, .common(.harmless))

    private static let mapped = [
        flag("insecure k", .flag("tls.insecure")), flag("netrc n", .flag("auth.netrc")),
        flag("compressed", .flag("compressed")),
        flag("netrc-optional", .flag("auth.netrc")), value("netrc-file", .text("auth.netrc")),
        flag("http1.1", .own(CurlMeanings.version)), flag("ssl-reqd", .flag("ftp.requireTLS")),
        flag("ftp-ssl-reqd", .flag("ftp.requireTLS")), flag("clobber", .own(CurlMeanings.clobber)),
        flag("skip-existing", .own(CurlMeanings.skipExisting)),
        value("ftp-port P", .own(CurlMeanings.active)),
        value("header H", .own(CurlMeanings.header)), value("user-agent A", .header("User-Agent")),
        value("referer e", .own(CurlMeanings.referer)), value("cookie b", .own(CurlMeanings.cookie)),
        value("request X", .own(CurlMeanings.method)),
        value("proxy x", .own(CurlMeanings.proxy("http"))), value("proxy1.0", .own(CurlMeanings.proxy("http"))),
        value("socks5", .own(CurlMeanings.proxy("socks5"))),
        value("socks5-hostname", .own(CurlMeanings.proxy("socks5h"))), value("noproxy", .text("noProxy")),
        value("cacert", .text("tls.ca")), value("cert E", .own(CurlMeanings.certificate)),
        value("key", .text("tls.key")), value("pinnedpubkey", .own(CurlMeanings.pins)),
        value("hostpubsha256", .own(CurlMeanings.hostKey)),
        value("limit-rate", .amount("limitRate")), value("retry", .number("retry.limit")),
        value("retry-delay", .own(CurlMeanings.delay)), value("connect-timeout", .amount("connectTimeout")),
        value("max-time m", .amount("maxTime")), value("speed-limit Y", .amount("lowSpeed.rate")),
        value("speed-time y", .amount("lowSpeed.time")), value("max-redirs", .own(CurlMeanings.redirects)),
        value("interface", .own(CurlMeanings.link)),
        value("continue-at C", .only("-", "where a file continues is found out; write - or leave it out")),
    ]

    private static let names = "names are resolved as the machine does it (/etc/hosts)"
    private static let whole = "files are moved whole"
    private static let alone = "a list only moves files; take this entry out"

    private static let refused =
        [
            value("range r", .refused("files are fetched whole; take the entry out, or this line")),
            flag("head I", .refused(alone)), flag("list-only l", .refused(alone)),
            flag("append a", .refused(whole)), flag("use-ascii B", .refused("bytes are moved as they are")),
            flag("crlf", .refused("bytes are moved as they are")),
            flag("metalink", .refused("give the Metalink itself: transfer get URL")),
            value("quote Q", .refused(alone)), value("mail-from", .refused(alone)),
            value("mail-rcpt", .refused(alone)), value("telnet-option t", .refused(alone)),
            value("config K", .refused("lists are not nested: name the other one beside this, with -i")),
            value("resolve", .refused(names)), value("connect-to", .refused(names)),
            value("unix-socket", .refused("servers are reached by TCP")),
            value("abstract-unix-socket", .refused("servers are reached by TCP")),
            value("request-target", .refused("what is asked for is the URL's path")),
            value("url-query", .refused("write the query behind the URL")),
            value("variable", .refused("variables are not read: write the value")),
            value("preproxy", .refused("one proxy is passed: \"proxy\"")),
            value("socks4", .refused("SOCKS 5 is spoken: socks5")),
            value("socks4a", .refused("SOCKS 5 is spoken: socks5")),
            value("capath", .refused("cacert FILE names the authorities, in one PEM file")),
            value("aws-sigv4", .refused("requests to s3://BUCKET/KEY are signed automatically")),
            value("pass", .secret(ListWays.passphrase)),
            value("proxy-pass", .secret("proxies are shown no certificate")),
            value(
                "proxy-user U",
                .secret(ListWays.proxyLogin)),
            value(
                "oauth2-bearer",
                .secret(ListWays.header("Authorization"))),
            value("tlspassword", .secret("TLS-SRP is not spoken")),
        ]

    private static let leftOut =
        flags(
            """
            digest,ntlm,ntlm-wb,negotiate,location-trusted,include i,path-as-is,post301,post302,post303,
            raw,proxytunnel p,xattr,http1.0 0,ipv4 4,ipv6 6,ssl,ssl-allow-beast,ssl-auto-client-cert,ssl-no-revoke,
            ssl-revoke-best-effort,sslv2 2,sslv3 3,tlsv1.0 1,tlsv1.1,tlsv1.2,tlsv1.3,cert-status,ca-native,
            disable-eprt,disable-epsv,doh-cert-status,doh-insecure,ftp-pret,ftp-skip-pasv-ip,ftp-ssl-ccc,
            ftp-ssl-control,form-escape,haproxy-protocol,ignore-content-length,mail-rcpt-allowfails,mptcp,
            proxy-ca-native,proxy-digest,proxy-http2,proxy-insecure,proxy-negotiate,proxy-ntlm,
            proxy-ssl-allow-beast,proxy-ssl-auto-client-cert,proxy-tlsv1,socks5-basic,socks5-gssapi,
            socks5-gssapi-nec,tftp-no-options,tls-earlydata,help h,manual M,version V
            """, .common(.leftOut))
        + valued(
            """
            alt-svc,ciphers,cookie-jar c,create-file-mode,crlfile,curves,delegation,dns-interface,dns-ipv4-addr,
            dns-ipv6-addr,dns-servers,doh-url,dump-ca-embed,dump-header D,ech,engine,etag-compare,etag-save,ftp-account,
            ftp-alternative-to-user,ftp-method,ftp-ssl-ccc-mode,haproxy-clientip,hostpubmd5,hsts,ip-tos,ipfs-gateway,
            krb,local-port,login-options,mail-auth,max-filesize,parallel-max,proto,proto-default,proto-redir,
            proxy-cacert,proxy-capath,proxy-cert,proxy-cert-type,proxy-ciphers,proxy-crlfile,proxy-header,proxy-key,
            proxy-key-type,proxy-pinnedpubkey,proxy-service-name,proxy-tls13-ciphers,proxy-tlsauthtype,
            proxy-tlspassword,proxy-tlsuser,rate,retry-max-time,sasl-authzid,service-name,sigalgs,
            socks5-gssapi-service,tftp-blksize,time-cond z,tls-max,tls13-ciphers,tlsauthtype,tlsuser,vlan-priority,
            write-out w
            """, .common(.leftOut))

    private static func flags(_ names: String, _ meaning: CurlOption.Meaning) -> [CurlOption] {
        list(names).map { CurlOption($0, takesValue: false, meaning) }
    }

    private static func valued(_ names: String, _ meaning: CurlOption.Meaning) -> [CurlOption] {
        list(names).map { CurlOption($0, takesValue: true, meaning) }
    }

    private static func list(_ names: String) -> [String] {
        names.split { $0 == "," || $0 == "\n" }.map(String.init).filter { !$0.isEmpty }
    }

    private static func flag(_ names: String, _ meaning: ListMeaning) -> CurlOption {
        CurlOption(names, takesValue: false, .common(meaning))
    }

    private static func value(_ names: String, _ meaning: ListMeaning) -> CurlOption {
        CurlOption(names, takesValue: true, .common(meaning))
    }

    private static func part(_ names: String, _ part: CurlOption.Part, takesValue: Bool = true) -> CurlOption {
        CurlOption(names, takesValue: takesValue, .part(part))
    }
}

import TransferTestServer

/// Answers without the file, and answers that redirect to a different place.
extension DownloadFault {
    static var statuses: [DownloadFault] {
        var faults: [DownloadFault] = []
        for status in MatrixStatuses.passing { faults.append(sends("\(status)", .status(status))) }
        // A request with a range may be refused because of the range (RFC 9110 §14.2): the next request asks for the
        // whole file.
        let mayBeOfRange = [400, 403, 405, 406, 412, 501]
        for status in MatrixStatuses.final {
            let nature = mayBeOfRange.contains(status) ? MatrixNature.either : .final("\(status)")
            faults.append(sends("\(status)", .status(status), nature))
        }
        for status in [403, 429, 503, 520] {
            faults.append(sends("\(status)", .status(status)).forEver(.final("\(status)")))
        }
        for status in [204, 205] { faults.append(noFile("\(status)", .status(status), "\(status)")) }
        faults.append(noFile("304 unasked", .status(304), "304"))
        faults.append(sends("600", .status(600)))
        faults.append(sends("103 ten times", .interim(count: 10)))
        return faults
    }

    /// The fault ends the transfer where no bytes are held, and costs nothing where some are.
    private static func noFile(_ name: String, _ fault: Fault, _ word: String) -> DownloadFault {
        let made = sends(name, fault).except([MatrixWay.plain], [MatrixMoment.first, .after], .nature(.final(word)))
        let believed = Meaning.leftOut("a server that says that nothing is new is believed")
        return word == "304"
            ? made.except([MatrixWay.conditional], [MatrixMoment.first], believed)
            : made.except([MatrixWay.conditional], [MatrixMoment.first], .nature(.final(word)))
    }

    static var waits: [DownloadFault] {
        var faults = [
            sends("429, Retry-After: 1", .status(429, headers: ["Retry-After": "1"])),
            sends("503, Retry-After: 0", .status(503, headers: ["Retry-After": "0"])),
            sends("503, Retry-After: soon", .status(503, headers: ["Retry-After": "soon"])),
            sends("413, Retry-After: 0", .status(413, headers: ["Retry-After": "0"])),
            sends("429, Retry-After: 0", .status(429, headers: ["Retry-After": "0"])).forEver(.final("429")),
            sends("503, Retry-After: 99999", .status(503, headers: ["Retry-After": "99999"])).forEver(.final("503")),
        ]
        for index in faults.indices { faults[index].asksToWait = true }
        return faults
    }

    static var redirects: [DownloadFault] {
        var faults: [DownloadFault] = []
        for status in [300, 301, 302, 303, 307, 308] {
            faults.append(sends("\(status) to the file", .redirect(to: "/moved", status: status)))
        }
        faults.append(sends("302 with an empty Location", .redirect(to: ""), .final("Location")))
        faults.append(sends("302 without a Location", .status(302), .final("Location")))
        faults.append(sends("302 to file:///etc/passwd", .redirect(to: "file:///etc/passwd"), .final("redirect")))
        faults.append(sends("302 to itself", .redirect(to: "/f")))
        faults.append(sends("302 to itself", .redirect(to: "/f")).forEver(.final("redirect")))
        faults.append(sends("302 to nowhere", .redirect(to: "/nowhere"), .final("404")))
        faults.append(sends("302 to a dead port", .redirect(to: "http://127.0.0.1:9/f")))
        faults.append(noFile("304 with a Location", .status(304, headers: ["Location": "/moved"]), "304"))
        faults.append(sends("305", .status(305, headers: ["Location": "/moved"]), .final("305")))
        return faults
    }
}

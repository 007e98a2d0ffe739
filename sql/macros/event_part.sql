-- One part of a digest: its length as eight bytes, the highest first, then its bytes (UTF-8).
create macro event_part(part) as
    unhex(format('{:016x}', octet_length(encode(part)))) || encode(part)

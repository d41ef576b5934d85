int kept;
//> solution-only TODO:
int gone;
//< solution-only
//> replaced TODO:
//| int skeleton_only;
int gone_too;
//< replaced
